#include "scenarios/language/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace adamant::scenarios {

namespace {

struct Descriptor {
  int const number;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
};

}  // namespace

// Opening a pipe that nobody writes to would wait for somebody, but for the second flag.
std::optional<std::string> read_regular_file(std::filesystem::path const& path,
                                             std::uint64_t bytes_max) {
  Descriptor const file{::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
  struct stat status {};
  if (file.number < 0 || ::fstat(file.number, &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  std::string text;
  char block[1U << 16U];
  while (text.size() <= bytes_max) {
    ssize_t const size = ::read(file.number, block, sizeof block);
    if (size == 0) return text;
    if (size < 0 && errno != EINTR) break;
    if (size > 0) text.append(block, static_cast<std::size_t>(size));
  }
  return std::nullopt;
}

}  // namespace adamant::scenarios
