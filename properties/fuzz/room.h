// What readers under test share: bytes as text, and a folder in memory for those that read files.
// It knows no reader.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::properties {

/// Errors: std::logic_error, which ends a fuzzer and fails a test, with what should hold.
void require(bool holds, std::string const& what);

std::string text_of(std::span<std::byte const> bytes);

/// The parts of a text between lines that are `border`; at least one.
std::vector<std::string> split(std::span<std::byte const> bytes, std::string_view border);

/// A folder of this process, in memory where the machine has /dev/shm. It goes with the process.
class Room {
 public:
  static Room& of_this_process();
  ~Room();
  Room(Room const&) = delete;  // it is a folder

  std::filesystem::path const& path() const { return path_; }
  /// A file, and the folders above it.
  void write(std::filesystem::path const& name, std::string_view content) const;
  /// An empty folder, whatever was there.
  std::filesystem::path empty_folder(std::filesystem::path const& name) const;

 private:
  Room();
  std::filesystem::path path_;
};

}  // namespace adamant::properties
