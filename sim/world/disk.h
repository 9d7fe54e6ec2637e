// A disk in memory that forgets: what was not synced when the machine crashes is lost or torn, as a
// chooser decides. It knows no rank, no engine and no format; whoever crashes it says when.
//
// Invariants:
//   1. Bytes of a file that were synced survive a crash. Of the bytes after them a prefix survives;
//      the file may keep its whole length then, with zeros behind that prefix.
//   2. A name in a directory survives if that directory was synced after the name was made. Of the
//      changes since then a prefix survives, directory by directory, in the order in which they
//      were made.
//   3. A rename happens or does not.
//   4. After a crash every operation fails until restart().
//
// Not modelled: writes in the middle of a file, links, permissions, a full disk, renames from one
// directory to another, file systems that reorder the changes of one directory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace adamant::sim {

/// Why the disk refuses an operation.
enum class DiskProblem { missing, exists, not_a_file, not_a_directory, not_empty, crashed };

class DiskError : public std::runtime_error {
 public:
  DiskError(DiskProblem problem, std::string const& what)
      : std::runtime_error(what), problem_(problem) {}
  DiskProblem problem() const { return problem_; }

 private:
  DiskProblem problem_;
};

/// Which of `count` equally possible outcomes happens; 0 is always the harshest.
using Chance = std::function<std::uint32_t(std::uint32_t count)>;

/// Paths are names joined by `/`; the root is "".
///
/// Errors: DiskError of all that take a path or a file.
class Disk {
 public:
  class Node;
  /// An open file, which lives on when its name goes.
  using File = std::shared_ptr<Node>;

  Disk();

  /// Makes an empty file; one of that name is replaced.
  File create(std::string_view path);
  File open(std::string_view path) const;
  void append(File const& file, std::span<std::byte const> bytes);
  void sync(File const& file);
  std::uint64_t size(File const& file) const;
  /// Fills `out` from `offset` on and returns how many bytes there were.
  std::size_t read(File const& file, std::uint64_t offset, std::span<std::byte> out) const;

  void make_directory(std::string_view path);
  /// Makes the names in a directory as durable as their files are.
  void sync_directory(std::string_view path);
  /// The names in a directory, sorted.
  std::vector<std::string> list(std::string_view path) const;
  /// Within one directory. A file replaces a file, a directory an empty directory.
  void rename(std::string_view from, std::string_view to);
  /// A file, or an empty directory.
  void remove(std::string_view path);
  bool exists(std::string_view path) const;
  bool is_directory(std::string_view path) const;

  /// What was not synced is kept or lost.
  void crash(Chance const& chance);
  void restart() { crashed_ = false; }

  // ---- damage from outside, durable at once; also to a crashed disk ----
  /// The bytes of a file.
  std::span<std::byte const> peek(std::string_view path) const;
  /// Replaces a file's content, or makes the file.
  void overwrite(std::string_view path, std::vector<std::byte> bytes);
  /// Removes a file as if it had never been there.
  void lose(std::string_view path);

 private:
  void expect_alive() const;
  Node& directory_of(std::string_view path) const;
  File find(std::string_view path) const;

  File root_;
  bool crashed_ = false;
};

}  // namespace adamant::sim
