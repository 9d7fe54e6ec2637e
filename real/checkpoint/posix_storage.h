// Files of the operating system. It buffers nothing and keeps no state between calls, so that one
// object serves all ranks of a process.
#pragma once

#include "real/checkpoint/storage.h"

namespace adamant::real {

class PosixStorage final : public Storage {
 public:
  bool exists(std::string const& path) override;
  std::unique_ptr<InputFile> open(std::string const& path) override;
  std::unique_ptr<OutputFile> create(std::string const& path) override;
  void rename(std::string const& from, std::string const& to) override;
  void remove(std::string const& path) override;
  std::vector<DirectoryEntry> list(std::string const& directory) override;
  void make_directory(std::string const& path) override;
  void sync_directory(std::string const& path) override;
};

}  // namespace adamant::real
