#include "scenarios/report/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

namespace adamant::scenarios {

namespace {

/// For a pipe that nobody reads: opening it would wait for somebody, and perhaps for ever.
int open_special(std::filesystem::path const& path) {
  constexpr int naps_max = 100;
  constexpr int nap_ms = 50;
  int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  for (int naps = 0; file < 0 && errno == ENXIO && naps < naps_max; ++naps)
    if (::poll(nullptr, 0, nap_ms) == 0)
      file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file >= 0) ::fcntl(file, F_SETFL, O_WRONLY);
  return file;
}

bool is_special(std::filesystem::path const& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
}

/// Where writing to `path` ends up: a link keeps pointing where it does, its target is replaced.
/// The standard output may be a regular file under that name, which others hold open too.
std::filesystem::path followed(std::filesystem::path path) {
  if (is_standard_output(path)) return "-";
  std::error_code dangling;
  if (!std::filesystem::is_symlink(path, dangling)) return path;
  auto target = std::filesystem::canonical(path, dangling);
  return dangling ? path : target;
}

}  // namespace

bool is_standard_output(std::filesystem::path const& path) {
  return path == "-" || path == "/dev/stdout";
}

OutputFile::OutputFile(std::filesystem::path path) : path_(followed(std::move(path))) {
  if (path_ == "-") {
    descriptor_ = ::dup(STDOUT_FILENO);
  } else if (is_special(path_)) {
    descriptor_ = open_special(path_);
  } else {
    open_temporary();
  }
  if (descriptor_ < 0) fail(errno);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  discard();
}

void OutputFile::open_temporary() {
  std::error_code impossible;  // such as a name that is too long; opening says so
  if (std::filesystem::is_directory(path_, impossible)) fail(EISDIR);
  // A file that may not be written is not replaced, although renaming over it would succeed.
  bool const exists = ::access(path_.c_str(), F_OK) == 0;
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  // What has the name already is not ours: a link that somebody laid there would be written
  // through.
  constexpr int names_max = 100;
  for (int number = 0; number < names_max && descriptor_ < 0; ++number) {
    auto const name = fmt::format(".{}.{}{}.tmp", path_.filename().string(), ::getpid(),
                                  number == 0 ? "" : fmt::format("-{}", number));
    auto temporary = path_.parent_path() / name;
    descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor_ >= 0) temporary_ = std::move(temporary);
    if (descriptor_ < 0 && errno != EEXIST) break;
  }
}

void OutputFile::write_and_close(std::string_view text) {
  if (path_ == "-") std::fflush(stdout);  // what was printed before comes first
  write_all(text);
  if (::close(std::exchange(descriptor_, -1)) != 0) fail_and_discard(errno);
}

// link(2) fails where the name is taken, and never shows a file that is not whole.
void OutputFile::commit_if_absent(std::string_view text) {
  write_and_close(text);
  if (!temporary_.empty() && ::link(temporary_.c_str(), path_.c_str()) != 0 && errno != EEXIST)
    fail_and_discard(errno);
  discard();
}

void OutputFile::commit(std::string_view text) {
  write_and_close(text);
  if (temporary_.empty()) return;
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail_and_discard(errno);
  temporary_.clear();
}

void OutputFile::write_all(std::string_view text) {
  while (!text.empty()) {
    ssize_t const written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_and_discard(errno);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::fail_and_discard(int error) {
  discard();
  fail(error);
}

void OutputFile::fail(int error) const {
  std::string const why = error == ENXIO ? "it is a pipe, and for 5 s nobody has opened it to read"
                                         : std::generic_category().message(error);
  throw CannotWrite(path_.string() + ": cannot be written: " + why);
}

void OutputFile::discard() noexcept {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_whole(std::filesystem::path const& path, std::string_view text) {
  OutputFile(path).commit(text);
}

}  // namespace adamant::scenarios
