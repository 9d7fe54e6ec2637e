#include "scenarios/language/yaml/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "scenarios/language/yaml/bytes.h"
#include "scenarios/language/yaml/problem.h"

namespace adamant::scenarios {

namespace {

constexpr int silence_max_ms = 5'000;

[[noreturn]] void fail(std::string const& why) {
  throw BadInput({1, "document", "cannot be read: " + why});
}

/// A pipe with a name: whoever opens it to read waits for one who writes, and perhaps for ever. The
/// one behind `<(…)` has none, and a shell that has promised to write.
bool is_named_pipe(int file) {
  struct stat found {};
  struct statfs system {};
  return ::fstat(file, &found) == 0 && S_ISFIFO(found.st_mode) && ::fstatfs(file, &system) == 0 &&
         system.f_type != PIPEFS_MAGIC;
}

struct Input {
  int const file;
  ~Input() { ::close(file); }
};

void wait_for(int file, bool is_named) {
  pollfd waited{.fd = file, .events = POLLIN, .revents = 0};
  int const ready = ::poll(&waited, 1, is_named ? silence_max_ms : -1);
  if (ready < 0) fail(std::strerror(errno));
  if (ready == 0) fail("it is a pipe, and for 5 s nobody has written to it");
}

}  // namespace

std::string read_file(std::filesystem::path const& path) {
  Input const input{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
  if (input.file < 0) fail(std::strerror(errno));
  bool const is_named = is_named_pipe(input.file);
  if (is_named) wait_for(input.file, is_named);  // until somebody opens it it is at its end
  std::string text;
  char block[1U << 16U];
  while (text.size() <= size_max) {
    ssize_t const size = ::read(input.file, block, sizeof block);
    if (size == 0) break;
    if (size > 0)
      text.append(block, static_cast<std::size_t>(size));
    else if (errno == EAGAIN)
      wait_for(input.file, is_named);
    else
      fail(std::strerror(errno));
  }
  if (text.size() > size_max) text.resize(size_max + 1);
  return text;
}

}  // namespace adamant::scenarios
