#include "scenarios/report/provenance.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {

namespace {

constexpr std::string_view written_by = "# written by adamant ";
constexpr std::string_view commit_key = ", commit ";
constexpr std::string_view engine_key = ", engine ";
constexpr std::string_view schedule_key = ", schedule ";
constexpr std::string_view digest_key = "# digest ";
constexpr std::string_view checksum_key = "# checksum ";
constexpr std::string_view dirty = "-dirty";  // as git ends what it says of changed sources

/// The first line of `text`, which then begins behind it.
std::string_view take_line(std::string_view& text) {
  auto const end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::optional<std::uint64_t> hexadecimal(std::string_view digits) {
  std::uint64_t value = 0;
  auto const [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

/// "0.1.0, commit 6a20073, engine sim, schedule fifo". An engine's name may have commas itself.
bool read_writer(std::string_view line, Provenance& provenance) {
  auto const commit = line.find(commit_key);
  if (commit == std::string_view::npos) return false;
  auto const engine = line.find(engine_key, commit);
  auto const schedule = line.rfind(schedule_key);
  if (engine == std::string_view::npos || schedule == std::string_view::npos || schedule < engine)
    return false;
  auto const between = [&](std::size_t begin, std::string_view key, std::size_t end) {
    return std::string(line.substr(begin + key.size(), end - begin - key.size()));
  };
  provenance.by = {.version = std::string(line.substr(0, commit)),
                   .commit = between(commit, commit_key, engine)};
  provenance.engine = between(engine, engine_key, schedule);
  provenance.schedule = between(schedule, schedule_key, line.size());
  return true;
}

std::vector<std::string> causes_of(Provenance const& written, Provenance const& now,
                                   std::span<std::string const> options) {
  std::vector<std::string> causes;
  if (!options.empty()) causes.push_back(fmt::format("{}", fmt::join(options, " ")));
  if (written.checksum != now.checksum) causes.emplace_back("the file was edited");
  if (written.engine != now.engine)
    causes.push_back(fmt::format("engine {}, and then {}", now.engine, written.engine));
  if (written.by.version != now.by.version)
    causes.push_back(
        fmt::format("this is adamant {}, and then {}", now.by.version, written.by.version));
  if (written.by.commit != now.by.commit)
    causes.push_back(
        fmt::format("this is commit {}, and then {}", now.by.commit, written.by.commit));
  else if (causes.empty() && now.by.commit.ends_with(dirty))
    causes.emplace_back("changes of the sources that no commit has");
  return causes;
}

}  // namespace

std::uint64_t checksum_of(std::string_view text) {
  std::uint64_t sum = 0xCBF29CE484222325U;
  for (char const c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return sum;
}

std::string comments_of(Provenance const& provenance) {
  return fmt::format("{}{}{}{}{}{}{}{}\n{}{:016x}\n{}{:016x}\n", written_by, provenance.by.version,
                     commit_key, provenance.by.commit, engine_key, printable(provenance.engine),
                     schedule_key, provenance.schedule, digest_key, provenance.digest, checksum_key,
                     provenance.checksum);
}

std::optional<Provenance> provenance_in(std::string_view text) {
  Provenance provenance;
  bool by = false;
  std::optional<std::uint64_t> digest;
  std::optional<std::uint64_t> checksum;
  while (!text.empty()) {
    std::string_view const line = take_line(text);
    if (!line.empty() && !line.starts_with('#')) break;
    if (line.starts_with(written_by)) by = read_writer(line.substr(written_by.size()), provenance);
    if (line.starts_with(digest_key)) digest = hexadecimal(line.substr(digest_key.size()));
    if (line.starts_with(checksum_key)) checksum = hexadecimal(line.substr(checksum_key.size()));
  }
  if (!by || !digest || !checksum) return std::nullopt;
  provenance.digest = *digest;
  provenance.checksum = *checksum;
  return provenance;
}

std::string difference(Provenance const& written, Provenance const& now,
                       std::span<std::string const> options) {
  if (written.digest == now.digest) return {};
  std::vector<std::string> const causes = causes_of(written, now, options);
  return fmt::format("digest {:016x}, and {:016x} when the file was written; likely cause: {}",
                     now.digest, written.digest,
                     causes.empty()
                         ? "the digest in the file was edited, or this build or machine differs"
                         : fmt::format("{}", fmt::join(causes, "; ")));
}

}  // namespace adamant::scenarios
