#include "scenarios/run/peer/scratch.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace adamant::scenarios {

namespace {

[[noreturn]] void refuse(std::filesystem::path const& path, char const* what) {
  throw std::system_error(errno, std::generic_category(), path.string() + ": cannot " + what);
}

std::filesystem::path base() {
  if (char const* const chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0')
    return chosen;
  std::filesystem::path const in_memory = "/dev/shm";
  return ::access(in_memory.c_str(), W_OK | X_OK) == 0 ? in_memory : "/tmp";
}

/// Waits for the other end of the pipe to close, which death does as well, and removes `path`.
[[noreturn]] void clean_up_after(std::filesystem::path const& path, int alive) {
  ::setsid();  // neither Ctrl-C nor a kill of the group reaches it
  for (int const number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  ::prctl(PR_SET_NAME, "adamant-cleanup");
  if (alive > 0 && ::dup2(alive, 0) == 0) alive = 0;
  ::close_range(1, ~0U, 0);  // nobody may wait for a pipe that only this process still holds
  char byte = 0;
  while (::read(alive, &byte, 1) < 0 && errno == EINTR) continue;
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  ::_exit(0);
}

/// The directory, and the pipe whose end tells of the death of who made it.
class Scratch {
 public:
  Scratch() : owner_(::getpid()) {
    std::string name = (base() / "adamant-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) refuse(name, "make");
    path_ = name;
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) refuse(path_, "watch");
    pid_t const watcher = ::fork();
    if (watcher < 0) refuse(path_, "watch");
    if (watcher == 0) clean_up_after(path_, ends[0]);
    ::close(ends[0]);
    alive_ = ends[1];
  }

  bool is_of(pid_t process) const { return owner_ == process; }
  std::filesystem::path const& path() const { return path_; }

 private:
  pid_t owner_;
  std::filesystem::path path_;
  int alive_ = -1;  // open as long as this process lives
};

}  // namespace

std::filesystem::path const& scratch_of_this_process() {
  static std::optional<Scratch> scratch;
  if (!scratch || !scratch->is_of(::getpid())) scratch.emplace();
  return scratch->path();
}

ScratchRoom::ScratchRoom(std::string const& name) {
  static std::uint64_t number = 0;
  path_ = scratch_of_this_process() / (name + "-" + std::to_string(++number));
  std::filesystem::create_directories(path_);
}

ScratchRoom::~ScratchRoom() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace adamant::scenarios
