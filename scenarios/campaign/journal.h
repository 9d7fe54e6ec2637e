// A file of lines that grows at its end alone, and of which a process that is killed at any moment
// leaves whole lines. It knows nothing of what they say.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::scenarios {

/// The journal of the process that writes it: no other one can have it at the same time, and it is
/// free as soon as its process is gone, however that ended. (The lock is fcntl(2)'s, which children
/// do not inherit and network file systems know: a worker may outlive its parent for a moment.)
class Journal {
 public:
  /// Makes the file, and the folders above it, where there is none. What is there stays as it is.
  ///
  /// Errors: CannotWrite, also where it is a link; CampaignError where a living process has it, or
  ///         where it is no regular file.
  explicit Journal(std::filesystem::path path);
  ~Journal();
  Journal(Journal const&) = delete;  // it is a lock
  Journal& operator=(Journal const&) = delete;

  /// As they were when it was opened.
  std::vector<std::string> take_lines() { return std::move(lines_); }

  /// Appends `line`, and returns once the disk has it. What a killed process had begun to write at
  /// the end is cut off before. REQUIRES: no newline in it.
  ///
  /// Errors: CannotWrite, as on a full disk; then the file ends where it did.
  void append(std::string_view line);

 private:
  void lock();
  void read();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t size_ = 0;  // of the whole lines
  std::vector<std::string> lines_;
};

/// The whole lines of a journal that may be being written; none where there is no such file.
///
/// Errors: CampaignError where it cannot be read.
std::vector<std::string> read_journal(std::filesystem::path const& path);

}  // namespace adamant::scenarios
