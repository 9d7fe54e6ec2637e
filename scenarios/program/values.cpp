#include "scenarios/program/values.h"

#include <charconv>
#include <system_error>
#include <utility>

namespace adamant::scenarios {

std::optional<std::uint64_t> parse_count(std::string_view text, CountRange range) {
  std::uint64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool const whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || value < range.first || value > range.last) return std::nullopt;
  return value;
}

std::optional<Portion> parse_shard(std::string_view text) {
  constexpr std::uint64_t shards_max = 1'000'000;
  auto const slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  auto const count = parse_count(text.substr(slash + 1), {1, shards_max});
  if (!count) return std::nullopt;
  auto const index = parse_count(text.substr(0, slash), {0, *count - 1});
  if (!index) return std::nullopt;
  return Portion{.index = *index, .count = *count};
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> units[] = {
      {"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"", 1000}};
  double number = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0) || number > 1e6) return std::nullopt;
  std::string_view const rest = text.substr(static_cast<std::size_t>(end - text.data()));
  for (auto const& [unit, factor] : units) {
    if (rest == unit) return std::chrono::milliseconds(static_cast<std::int64_t>(number * factor));
  }
  return std::nullopt;
}

}  // namespace adamant::scenarios
