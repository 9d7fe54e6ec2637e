// Where checkpoints are kept: files and directories, in the few verbs that a save which survives a
// crash needs. The engine knows no other way to a file. Who answers is given by the host program:
// POSIX (posix_storage.h), a simulated disk, an object store.
//
// Names are paths with `/`, as the implementation understands them. What survives a crash:
//   1 the bytes of a file that were appended before its last sync()
//   2 the name of a file or directory (its creation, renaming or removal) after sync_directory() of
//     the directory that holds it
//   3 of anything later: nothing, all, or a part; a file may have any prefix of its bytes
// A rename is seen whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace adamant::real {

/// The file system refuses: missing, full, not permitted, broken. The message names the path.
class StorageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that is read in ranges. Its content does not change while it is open.
class InputFile {
 public:
  virtual ~InputFile() = default;
  virtual std::uint64_t size() const = 0;
  /// Fills all of `into` with the bytes from `offset` on. They are written by host code, as far as
  /// anybody watches accesses to `into`.
  ///
  /// Errors: StorageError, also where the file ends before the range does.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;
};

/// A file that is being written, from its beginning to its end. Closed when destroyed, without a
/// sync.
class OutputFile {
 public:
  virtual ~OutputFile() = default;
  /// Errors: StorageError; the file then ends somewhere inside `bytes`.
  virtual void append(std::span<std::byte const> bytes) = 0;
  /// Returns when what was appended survives a crash. Errors: StorageError.
  virtual void sync() = 0;
};

struct DirectoryEntry {
  std::string name;  // without the directory
  bool is_directory = false;

  friend bool operator==(DirectoryEntry const&, DirectoryEntry const&) = default;
};

/// Errors: StorageError from every verb; what was asked for has then not happened, unless a verb
/// says otherwise. Ranks may call at the same time, on different paths.
class Storage {
 public:
  virtual ~Storage() = default;

  virtual bool exists(std::string const& path) = 0;
  virtual std::unique_ptr<InputFile> open(std::string const& path) = 0;
  /// A new file, empty; replaces one of that name. Its directory has to exist.
  virtual std::unique_ptr<OutputFile> create(std::string const& path) = 0;
  /// `from` is a file or a directory; there is nothing called `to`.
  virtual void rename(std::string const& from, std::string const& to) = 0;
  /// A file, or a directory without entries.
  virtual void remove(std::string const& path) = 0;
  /// Sorted by name.
  virtual std::vector<DirectoryEntry> list(std::string const& directory) = 0;
  /// There is nothing of that name yet; its parent exists.
  virtual void make_directory(std::string const& path) = 0;
  /// Returns when the names in a directory survive a crash.
  virtual void sync_directory(std::string const& path) = 0;
};

/// Removes a directory with everything in it, or a file; nothing where there is nothing.
void remove_all(Storage& storage, std::string const& path);

/// The path of an entry of a directory.
std::string join_path(std::string const& directory, std::string const& name);
/// The directory that holds `path`: "." for a bare name.
std::string parent_of(std::string const& path);
/// The last part of `path`.
std::string name_of_path(std::string const& path);

}  // namespace adamant::real
