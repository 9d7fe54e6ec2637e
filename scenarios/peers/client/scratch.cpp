#include "scenarios/peers/client/scratch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "scenarios/judge/dump/output_error.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void refuse(std::filesystem::path const& path, char const* what) {
  throw OutputError(fmt::format(
      "{}: cannot {}: {}; engines outside the process need a directory for files: TMPDIR "
      "names another place",
      path.string(), what, std::generic_category().message(errno)));
}

std::filesystem::path base() {
  if (char const* const chosen = std::getenv("TMPDIR"); chosen != nullptr && *chosen != '\0')
    return chosen;
  std::filesystem::path const in_memory = "/dev/shm";
  return ::access(in_memory.c_str(), W_OK | X_OK) == 0 ? in_memory : "/tmp";
}

constexpr std::chrono::milliseconds nap{50};
constexpr int quiet_naps = 20;  // after which nobody is left who would write
constexpr int naps_max = 600;

/// Removes a directory in which processes that are about to die may still make files.
void remove_for_good(std::string const& path) {
  std::error_code ignored;
  for (int naps = 0, quiet = 0; quiet < quiet_naps && naps < naps_max; ++naps) {
    quiet = std::filesystem::remove_all(path, ignored) == 0 ? quiet + 1 : 0;
    std::this_thread::sleep_for(nap);
  }
}

/// Makes the directory and says its path, or ends with the reason as exit status. Then it waits for
/// the other end of `alive` to close, which death does as well, and removes the directory.
[[noreturn]] void keep(std::string name, int said, int alive) {
  ::setsid();  // neither Ctrl-C nor a kill of the group reaches it
  for (int const number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_IGN);
  ::prctl(PR_SET_NAME, "adamant-cleanup");
  if (::mkdtemp(name.data()) == nullptr) ::_exit(errno);
  [[maybe_unused]] auto const written = ::write(said, name.data(), name.size());
  if (alive > 0 && ::dup2(alive, 0) == 0) alive = 0;
  ::close_range(1, ~0U, 0);  // nobody may wait for a pipe that only this process still holds
  char byte = 0;
  while (::read(alive, &byte, 1) < 0 && errno == EINTR) continue;
  remove_for_good(name);
  ::_exit(0);
}

/// A pipe, as far as its ends are not closed or taken.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) refuse("a directory for engines", "watch");
  }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;
  ~Pipe() {
    close_reader();
    close_writer();
  }

  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  int take_writer() { return std::exchange(ends_[1], -1); }
  void close_reader() { close(ends_[0]); }
  void close_writer() { close(ends_[1]); }

 private:
  static void close(int& end) {
    if (end >= 0) ::close(std::exchange(end, -1));
  }

  std::array<int, 2> ends_{-1, -1};
};

/// What is written to a pipe until it closes.
std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 256> buffer;
  for (;;) {
    ssize_t const count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

/// Why that process ended without a word: what it says, or that somebody killed it.
int reason_of(pid_t keeper) {
  int status = 0;
  while (::waitpid(keeper, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

/// The directory, and the pipe whose end tells of the death of whose it is. The process that will
/// remove it makes it: there is no moment at which nobody would.
class Scratch {
 public:
  Scratch() : owner_(::getpid()) {
    std::string const name = (base() / fmt::format("adamant-{}-XXXXXX", owner_)).string();
    Pipe alive;
    Pipe said;
    pid_t const keeper = ::fork();
    if (keeper < 0) refuse(name, "watch");
    if (keeper == 0) {
      alive.close_writer();
      keep(name, said.writer(), alive.reader());
    }
    said.close_writer();
    path_ = read_all(said.reader());
    if (path_.empty()) {
      errno = reason_of(keeper);
      refuse(name, "make");
    }
    alive_ = alive.take_writer();
  }

  bool is_of(pid_t process) const { return owner_ == process; }
  std::filesystem::path const& path() const { return path_; }

 private:
  pid_t owner_;
  std::filesystem::path path_;
  int alive_ = -1;  // open as long as this process lives
};

}  // namespace

void expect_room_for_scratch() {
  // A file without a name goes with its descriptor, whatever ends this process.
  int const file = ::open(base().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  int const error = file < 0 ? errno : ::posix_fallocate(file, 0, 1 << 16);
  if (file >= 0) ::close(file);
  if (error == 0 || error == EOPNOTSUPP || error == EISDIR) return;  // or there are none here
  errno = error;
  refuse(base(), "make files in it");
}

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
