#include "real/checkpoint/posix_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "real/cuda/reported.h"

namespace adamant::real {

namespace {

[[noreturn]] void refuse(std::string const& path, std::string const& what) {
  std::string const reason = std::strerror(errno);
  std::string message = path;
  message.append(": cannot ").append(what).append(": ").append(reason);
  throw StorageError(message);
}

/// An open file descriptor.
class Descriptor {
 public:
  Descriptor(std::string path, int flags, char const* purpose)
      : path_(std::move(path)), value_(::open(path_.c_str(), flags | O_CLOEXEC, 0666)) {
    if (value_ < 0) refuse(path_, purpose);
  }
  ~Descriptor() { static_cast<void>(::close(value_)); }
  Descriptor(Descriptor const&) = delete;
  Descriptor& operator=(Descriptor const&) = delete;

  std::string const& path() const { return path_; }
  int get() const { return value_; }
  struct stat status() const {
    struct stat status = {};
    if (::fstat(value_, &status) != 0) refuse(path_, "examine");
    return status;
  }
  void sync() const {
    if (::fsync(value_) != 0) refuse(path_, "sync");
  }

 private:
  std::string path_;
  int value_;
};

/// One system call; how many bytes it moved.
std::size_t read_some(Descriptor const& file, std::uint64_t offset, std::span<std::byte> into) {
  for (;;) {
    ssize_t const moved = ::pread(file.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno != EINTR) refuse(file.path(), "read");
  }
}

std::size_t write_some(Descriptor const& file, std::span<std::byte const> bytes) {
  for (;;) {
    ssize_t const moved = ::write(file.get(), bytes.data(), bytes.size());
    if (moved >= 0) return static_cast<std::size_t>(moved);
    if (errno != EINTR) refuse(file.path(), "write");
  }
}

void read_all(Descriptor const& file, std::uint64_t offset, std::span<std::byte> into) {
  while (!into.empty()) {
    std::size_t const moved = read_some(file, offset, into);
    if (moved == 0) {
      std::string message = file.path();
      message.append(": ends at byte ").append(std::to_string(offset));
      message.append(", ").append(std::to_string(into.size())).append(" bytes too early");
      throw StorageError(message);
    }
    into = into.subspan(moved);
    offset += moved;
  }
}

class PosixInputFile final : public InputFile {
 public:
  // Opening a pipe that nobody writes to would wait for somebody, but for the second flag.
  explicit PosixInputFile(std::string const& path)
      : file_(path, O_RDONLY | O_NONBLOCK, "open"),
        size_(static_cast<std::uint64_t>(file_.status().st_size)) {
    if (S_ISREG(file_.status().st_mode)) return;
    throw StorageError(path + ": is not a file");
  }

  std::uint64_t size() const override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if constexpr (accesses_are_reported) {
      std::vector<std::byte> arrived(into.size());
      read_all(file_, offset, arrived);
      if (!into.empty()) std::memcpy(into.data(), arrived.data(), arrived.size());
    } else {
      read_all(file_, offset, into);
    }
  }

 private:
  Descriptor file_;
  std::uint64_t size_;
};

class PosixOutputFile final : public OutputFile {
 public:
  explicit PosixOutputFile(std::string const& path)
      : file_(path, O_WRONLY | O_CREAT | O_TRUNC, "create") {}

  void append(std::span<std::byte const> bytes) override {
    while (!bytes.empty()) bytes = bytes.subspan(write_some(file_, bytes));
  }
  void sync() override { file_.sync(); }

 private:
  Descriptor file_;
};

struct CloseDirectory {
  void operator()(DIR* directory) const { static_cast<void>(::closedir(directory)); }
};

bool names_directory(std::string const& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0) refuse(path, "examine");
  return S_ISDIR(status.st_mode);
}

}  // namespace

bool PosixStorage::exists(std::string const& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  refuse(path, "examine");
}

std::unique_ptr<InputFile> PosixStorage::open(std::string const& path) {
  return std::make_unique<PosixInputFile>(path);
}

std::unique_ptr<OutputFile> PosixStorage::create(std::string const& path) {
  return std::make_unique<PosixOutputFile>(path);
}

void PosixStorage::rename(std::string const& from, std::string const& to) {
  if (exists(to)) throw StorageError(to + ": exists; rename replaces nothing");
  if (::rename(from.c_str(), to.c_str()) != 0) refuse(from, std::string("rename to ").append(to));
}

void PosixStorage::remove(std::string const& path) {
  int const status = names_directory(path) ? ::rmdir(path.c_str()) : ::unlink(path.c_str());
  if (status != 0) refuse(path, "remove");
}

std::vector<DirectoryEntry> PosixStorage::list(std::string const& directory) {
  std::unique_ptr<DIR, CloseDirectory> const opened(::opendir(directory.c_str()));
  if (opened == nullptr) refuse(directory, "list");
  std::vector<DirectoryEntry> entries;
  errno = 0;
  while (dirent const* const entry = ::readdir(opened.get())) {
    std::string const name = entry->d_name;
    if (name != "." && name != "..")
      entries.push_back({name, names_directory(join_path(directory, name))});
    errno = 0;
  }
  if (errno != 0) refuse(directory, "list");
  std::sort(entries.begin(), entries.end(),
            [](DirectoryEntry const& a, DirectoryEntry const& b) { return a.name < b.name; });
  return entries;
}

void PosixStorage::make_directory(std::string const& path) {
  if (::mkdir(path.c_str(), 0777) != 0) refuse(path, "make");
}

void PosixStorage::sync_directory(std::string const& path) {
  Descriptor(path, O_RDONLY | O_DIRECTORY, "open").sync();
}

}  // namespace adamant::real
