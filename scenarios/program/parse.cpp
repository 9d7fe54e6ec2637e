#include "scenarios/program/parse.h"

#include <charconv>
#include <iterator>
#include <system_error>

namespace adamant::scenarios {

std::optional<std::uint64_t> parse_count(std::string_view text, CountRange range) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < range.first || value > range.last) return std::nullopt;
  return value;
}

std::optional<Portion> parse_shard(std::string_view text) {
  auto const slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto const count = parse_count(text.substr(slash + 1), {1, shards_max});
  if (!count) return std::nullopt;
  auto const index = parse_count(text.substr(0, slash), {0, *count - 1});
  if (!index) return std::nullopt;
  return Portion{.index = *index, .count = *count};
}

namespace {

constexpr std::string_view letters = "hms";

struct Unit {
  std::string_view name;
  double milliseconds;
};
constexpr Unit units[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};

/// Takes a number greater than 0 off the beginning of a text.
std::optional<double> take_number(std::string_view& text) {
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0) || number > 1e6) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes one of these units, and says behind which in the list it is.
std::optional<std::size_t> take_unit(std::string_view& text, std::size_t first) {
  std::string_view const name = text.substr(0, text.find_first_not_of(letters));
  for (std::size_t u = first; u < std::size(units); ++u) {
    if (units[u].name != name) continue;
    text.remove_prefix(name.size());
    return u;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  double total = 0;
  std::size_t next = 0;
  while (auto const number = take_number(text)) {
    if (text.empty() && next == 0)
      return std::chrono::milliseconds(static_cast<std::int64_t>(*number * 1000));
    auto const unit = take_unit(text, next);
    if (!unit) return std::nullopt;
    total += *number * units[*unit].milliseconds;
    next = *unit + 1;
    if (text.empty()) return std::chrono::milliseconds(static_cast<std::int64_t>(total));
  }
  return std::nullopt;
}

}  // namespace adamant::scenarios
