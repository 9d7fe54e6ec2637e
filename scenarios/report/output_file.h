// A file that is there whole or not at all: written beside its place and renamed. It knows nothing
// of what is written.
#pragma once

#include <filesystem>
#include <string_view>

#include "scenarios/judge/dump/output_error.h"

namespace adamant::scenarios {

/// An output that cannot be written; what() names the path and the reason. Its temporary is gone.
struct CannotWrite : OutputError {
  using OutputError::OutputError;
};

/// One output. The temporary is opened at once, so that an impossible place is known before any
/// work; until commit() an existing file at the path stays as it is.
///
/// A path that exists and is not a regular file (a terminal, a pipe) is written in place, and "-"
/// is the standard output. A link stays one: what it points to is replaced.
class OutputFile {
 public:
  /// Errors: CannotWrite.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(OutputFile const&) = delete;  // two would rename the same temporary
  OutputFile& operator=(OutputFile const&) = delete;

  /// Writes all of `text` and puts the file in its place. Once only.
  /// Errors: CannotWrite, also where the disk is full.
  void commit(std::string_view text);
  /// The same where there is nothing at the path by then; else what is there stays.
  void commit_if_absent(std::string_view text);

 private:
  void open_temporary();
  void write_and_close(std::string_view text);
  void write_all(std::string_view text);
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void fail_and_discard(int error);
  void discard() noexcept;

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty: written in place
  int descriptor_ = -1;
};

/// Does `path` mean the standard output?
bool is_standard_output(std::filesystem::path const& path);

/// OutputFile in one call.
void write_whole(std::filesystem::path const& path, std::string_view text);

}  // namespace adamant::scenarios
