#include "scenarios/campaign/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "scenarios/campaign/settings.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/report/output_file.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t journal_bytes_max = std::uint64_t{4} << 30U;

/// Those that end with a newline: what is behind the last one is not whole.
std::vector<std::string> whole_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return lines;
}

void make_folder(std::filesystem::path const& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw CannotWrite(folder.string() + ": cannot be made: " + error.message());
}

/// All of `text`, at `position`; 0, or why not.
int write_at(int descriptor, std::string_view text, std::int64_t position) {
  while (!text.empty()) {
    ssize_t const written = ::pwrite(descriptor, text.data(), text.size(), position);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
    position += written;
  }
  return ::fdatasync(descriptor) == 0 ? 0 : errno;
}

}  // namespace

Journal::Journal(std::filesystem::path path) : path_(std::move(path)) {
  make_folder(path_.parent_path());
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail(errno);
  try {
    struct stat found {};
    if (::fstat(descriptor_, &found) != 0) fail(errno);
    if (!S_ISREG(found.st_mode)) throw CampaignError(path_.string() + ": is no regular file");
    lock();
    read();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  ::close(descriptor_);
}

void Journal::lock() {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor_, F_SETLK, &whole) == 0) return;
  if (errno != EACCES && errno != EAGAIN) fail(errno);
  std::string holder;
  if (::fcntl(descriptor_, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK && whole.l_pid > 0)
    holder = fmt::format(", process {}", whole.l_pid);
  throw CampaignError(fmt::format(
      "{}: another search is at work on this shard{}; wait for its end, or take another shard",
      path_.parent_path().string(), holder));
}

void Journal::read() {
  std::string text;
  char part[1 << 16];
  for (;;) {
    ssize_t const count =
        ::pread(descriptor_, part, sizeof part, static_cast<std::int64_t>(text.size()));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(errno);
    if (count == 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  lines_ = whole_lines(text);
  size_ = static_cast<std::int64_t>(text.rfind('\n') + 1);  // npos + 1 is 0
}

void Journal::append(std::string_view line) {
  std::string const text = std::string(line) + "\n";
  if (::ftruncate(descriptor_, size_) != 0) fail(errno);
  if (int const error = write_at(descriptor_, text, size_); error != 0) {
    // Were this to fail too, the torn line is cut off before the next one.
    [[maybe_unused]] int const cut = ::ftruncate(descriptor_, size_);
    fail(error);
  }
  size_ += static_cast<std::int64_t>(text.size());
}

void Journal::fail(int error) const {
  throw CannotWrite(
      fmt::format("{}: cannot be written: {}; what is whole in it stays, and the same command goes "
                  "on from there",
                  path_.string(), std::generic_category().message(error)));
}

std::vector<std::string> read_journal(std::filesystem::path const& path) {
  auto const text = read_regular_file(path, journal_bytes_max);
  std::error_code unknown;
  if (!text && std::filesystem::exists(path, unknown))
    throw CampaignError(path.string() + ": cannot be read as a regular file");
  return whole_lines(text.value_or(""));
}

}  // namespace adamant::scenarios
