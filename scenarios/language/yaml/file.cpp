#include "scenarios/language/yaml/file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include "scenarios/language/plain_text.h"
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

[[noreturn]] void fail(std::string_view text, std::size_t offset, std::string message) {
  auto const* const begin = text.data();
  auto const line = 1 + static_cast<int>(std::count(begin, begin + offset, '\n'));
  throw BadInput({line, "document", std::move(message)});
}

/// YAML 1.2, production c-printable.
bool is_printable(std::uint32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c < 0x7F) return true;
  if (c < 0xA0) return c == 0x85;
  return c != 0xFFFE && c != 0xFFFF;
}

bool is_indicator(char c) {
  return std::string_view("[]{},:?!&*'\"").find(c) != std::string_view::npos;
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

void check_bytes(std::string_view text) {
  if (text.size() > size_max) {
    fail(text, 0, "the file has more than 8 MiB; a scenario has at most that");
  }
  std::size_t indicators = 0;
  for (std::size_t i = 0; i < text.size();) {
    auto const [code_point, size] = first_code_point(text.substr(i, 4));
    if (size == 0)
      fail(text, i,
           "expected UTF-8, found the byte " + std::to_string(static_cast<unsigned char>(text[i])));
    if (!is_printable(code_point)) {
      fail(text, i, "expected text, found the control character " + std::to_string(code_point));
    }
    if (is_indicator(text[i]) && ++indicators > indicators_max) {
      fail(text, i, "too many nodes: a scenario has at most 200,000");
    }
    i += size;
  }
}

}  // namespace adamant::scenarios
