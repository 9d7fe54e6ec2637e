// A Storage in memory, for tests: files can be damaged between calls, and verbs can be made to
// fail. It forgets nothing in a crash, because it knows none.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "real/checkpoint/storage.h"

namespace adamant::real {

/// Paths are relative to one root, which exists. Ranks may share it.
class MemoryStorage final : public Storage {
 public:
  bool exists(std::string const& path) override;
  std::unique_ptr<InputFile> open(std::string const& path) override;
  std::unique_ptr<OutputFile> create(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<DirectoryEntry> list(std::string const& directory) override;
  void make_directory(std::string const& path) override;
  void sync_directory(std::string const& path) override;

  /// A file's bytes, to look at and to damage. REQUIRES: it exists.
  std::vector<std::byte>& bytes_of(std::string const& path);
  /// Appends to these paths throw, from now on.
  std::function<bool(std::string const& path)> refuses_append;

 private:
  friend class MemoryOutput;
  using Bytes = std::shared_ptr<std::vector<std::byte>>;

  bool exists_now(std::string const& path) const;
  void expect_directory_of(std::string const& path) const;

  std::mutex mutex_;
  std::map<std::string, Bytes> entries_;  // null for directories
};

}  // namespace adamant::real
