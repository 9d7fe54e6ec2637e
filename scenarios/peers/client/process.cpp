#include "scenarios/peers/client/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>

#include "scenarios/pool/interrupt.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds farewell{300};
constexpr std::chrono::milliseconds between_looks{2};
constexpr off_t errors_bytes_max = 1 << 20;  // kept of what it complains about
constexpr std::size_t last_words_bytes = 1000;
constexpr int last_words_lines = 4;

int milliseconds_until(Clock::time_point deadline) {
  auto const left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

}  // namespace

PeerProcess::PeerProcess(std::string const& command) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  must(::pipe2(input.data(), O_CLOEXEC), "pipe");
  must(::pipe2(output.data(), O_CLOEXEC), "pipe");
  errors_ = must(::memfd_create("engine's errors", MFD_CLOEXEC), "memfd_create");
  must(::fcntl(errors_, F_SETFL, O_APPEND), "fcntl");
  std::signal(SIGPIPE, SIG_IGN);  // that it no longer reads is an error, and not our end
  keeper_.emplace(KeptCommand{
      .text = command.c_str(), .input = input[0], .output = output[1], .errors = errors_});
  ::close(input[0]);
  ::close(output[1]);
  to_child_ = input[1];
  from_child_ = output[0];
  ::fcntl(to_child_, F_SETFL, O_NONBLOCK);
  ::fcntl(from_child_, F_SETFL, O_NONBLOCK);
}

PeerProcess::~PeerProcess() {
  ends_after_input(must_stop() ? std::chrono::milliseconds(0) : farewell);
  keeper_.reset();
  ::close(from_child_);
  ::close(errors_);
}

bool PeerProcess::ends_after_input(std::chrono::milliseconds wait) {
  auto const end = Clock::now() + wait;
  if (to_child_ >= 0) ::close(to_child_);
  to_child_ = -1;
  while (!keeper_->status() && Clock::now() < end) std::this_thread::sleep_for(between_looks);
  return keeper_->status().has_value();
}

void PeerProcess::wait_for(int descriptor, short events, Deadline deadline, char const* what) {
  std::array<pollfd, 2> descriptors{
      pollfd{.fd = descriptor, .events = events, .revents = 0},
      pollfd{.fd = interrupt_descriptor(), .events = POLLIN, .revents = 0}};
  int const ready = ::poll(descriptors.data(), descriptors.size(),
                           milliseconds_until(std::min(deadline.end(), waiting_ends())));
  if (must_stop()) throw PeerError(interrupted() ? "interrupted" : "the time of --for is over");
  if (ready == 0)
    throw PeerLate(fmt::format("it {} within {:g} s (--peer-timeout)", what,
                               std::chrono::duration<double>(deadline.wait()).count()));
}

void PeerProcess::write_line(std::string_view line, Deadline deadline) {
  struct stat errors {};
  if (::fstat(errors_, &errors) == 0 && errors.st_size > errors_bytes_max)
    static_cast<void>(::ftruncate(errors_, 0));
  std::string text(line);
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t const written = ::write(to_child_, rest.data(), rest.size());
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno == EAGAIN)
      wait_for(to_child_, POLLOUT, deadline, "did not read its input");
    else if (written < 0 && errno != EINTR)
      throw PeerError(how_it_ended());
  }
}

std::string PeerProcess::read_line(Deadline deadline) {
  std::array<char, 1 << 14> buffer;
  for (;;) {
    if (auto const end = received_.find('\n', searched_); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      searched_ = 0;
      return line;
    }
    searched_ = received_.size();
    if (received_.size() > line_bytes_max)
      throw PeerError(fmt::format("it sent a line of more than {} bytes", line_bytes_max));
    ssize_t const count = ::read(from_child_, buffer.data(), buffer.size());
    if (count > 0) received_.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0)
      throw PeerError(received_.empty() ? how_it_ended()
                                        : fmt::format("half a line came ({} bytes), then {}",
                                                      received_.size(), how_it_ended()));
    if (count < 0 && errno == EAGAIN)
      wait_for(from_child_, POLLIN, deadline,
               received_.empty() ? "did not answer" : "sent half a line, but not the rest");
    else if (count < 0 && errno != EINTR)
      throw PeerError(std::string("cannot be read from: ").append(std::strerror(errno)));
  }
}

std::string PeerProcess::how_it_ended() {
  if (!ends_after_input(farewell)) return "it closed its output";
  int const status = *keeper_->status();
  if (WIFSIGNALED(status))
    return fmt::format("it was killed by signal {} ({})", WTERMSIG(status),
                       ::strsignal(WTERMSIG(status)));
  return fmt::format("it ended with exit status {}", WEXITSTATUS(status));
}

std::string PeerProcess::last_words() const {
  struct stat file {};
  if (::fstat(errors_, &file) != 0 || file.st_size == 0) return "";
  std::string text(std::min<std::size_t>(static_cast<std::size_t>(file.st_size), last_words_bytes),
                   ' ');
  ssize_t const count =
      ::pread(errors_, text.data(), text.size(), file.st_size - static_cast<off_t>(text.size()));
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return std::string(last_lines(text, last_words_lines));
}

}  // namespace adamant::scenarios
