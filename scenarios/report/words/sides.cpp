// Both sides of a violation.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/language/words.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {

namespace {

std::string printed(char const* format, float x) {
  std::array<char, 64> text{};
  int const length = std::snprintf(text.data(), text.size(), format, static_cast<double>(x));
  return {text.data(), static_cast<std::size_t>(length)};
}

// ---- one side ----------------------------------------------------------------------------------

std::string interval_text(Interval const& interval, std::string (*written)(float)) {
  std::vector<std::string> parts;
  if (interval.finite_possible)
    parts.push_back(fmt::format("[{}, {}]", written(interval.lo), written(interval.hi)));
  if (interval.may_be_pos_inf) parts.emplace_back("inf");
  if (interval.may_be_neg_inf) parts.emplace_back("-inf");
  if (interval.may_be_nan) parts.emplace_back("nan");
  return fmt::format("{}", fmt::join(parts, " or "));
}

/// "rows [0, 2), [5, 6)" where all are whole rows, else "elements [1, 4)".
std::string ranges_text(Elements const& elements) {
  if (elements.ranges.empty()) return "no elements";
  std::int64_t const row = std::max<std::int64_t>(elements.row_numel, 1);
  bool const rows = std::ranges::all_of(elements.ranges, [&](ElementRange const& range) {
    return range.begin % row == 0 && range.end % row == 0;
  });
  std::int64_t const unit = rows ? row : 1;
  std::vector<std::string> texts;
  for (ElementRange const range : elements.ranges)
    texts.push_back(fmt::format("[{}, {})", range.begin / unit, range.end / unit));
  return fmt::format("{} {}", rows ? "rows" : "elements", fmt::join(texts, ", "));
}

std::string settings_text(AdamConfig const& config) {
  std::string text(word_for(config.mode));
  for (AdamNumber const& number : numbers_of_adam()) {
    if (number.beta < 1) text.append(" ").append(number.key);
    text.append(" ").append(decimal(config.*number.place));
  }
  return text + (config.bias_correction ? "" : " without bias correction");
}

std::string count_text(Breach breach, std::int64_t count) {
  if (kind_of(breach) == BreachKind::number || breach == Breach::saved_otherwise)
    return fmt::format("code {:#04x}", count);
  bool const counts_bytes = breach == Breach::other_peak || breach == Breach::never_freed;
  std::string_view const unit = breach == Breach::other_size ? " elements"
                                : counts_bytes               ? " bytes"
                                                             : "";
  return fmt::format("{}{}", count, unit);
}

std::string bytes_text(LiveBytes const& live) {
  return fmt::format("{} bytes on the device and {} pinned", live.device, live.pinned);
}

/// Writes a value as the breach that it belongs to has it.
struct ValueText {
  Breach breach;

  std::string operator()(std::monostate) const { return ""; }
  std::string operator()(Number number) const { return hexadecimal(number.value()); }
  std::string operator()(Interval const& interval) const {
    return interval_text(interval, hexadecimal);
  }
  std::string operator()(Elements const& elements) const {
    std::string_view const type =
        elements.recipe ? name_of(*elements.recipe) : name_of(elements.format);
    return fmt::format("{} in {}", ranges_text(elements), type);
  }
  std::string operator()(Count count) const { return count_text(breach, count.count); }
  std::string operator()(Presence presence) const {
    if (breach == Breach::moved) return presence.there ? "another address" : "no storage";
    return presence.there ? "a gradient" : "no gradient";
  }
  std::string operator()(AdamConfig const& config) const { return settings_text(config); }
  std::string operator()(LiveBytes const& live) const { return bytes_text(live); }
  std::string operator()(Allocated const& allocated) const {
    return fmt::format("{}{}", allocated.bytes,
                       allocated.on_host ? " pinned bytes" : " bytes on the device");
  }
  std::string operator()(Digest digest) const {
    return breach == Breach::other_gathered ? fmt::format("fingerprint {}", digest.digest)
                                            : fmt::format("{:016x}", digest.digest);
  }
};

std::string decimal_text(Value const& value) {
  if (auto const* number = std::get_if<Number>(&value)) return decimal(number->value());
  if (auto const* interval = std::get_if<Interval>(&value))
    return interval_text(*interval, decimal);
  return "";
}

std::string answer_of(Violation const& violation) {
  return violation.reason + ": " + violation.text;
}

Sides sides_of_numbers(Violation const& violation) {
  return {.expected = value_in_words(violation.breach, violation.expected),
          .actual = value_in_words(violation.breach, violation.actual),
          .expected_decimal = decimal_text(violation.expected),
          .actual_decimal = decimal_text(violation.actual)};
}

/// What stands on a side that has no value.
Sides default_sides(Violation const& violation) {
  if (violation.breach == Breach::never_freed) return {.expected = "nothing"};
  if (is_of_world(violation.breach)) return {};
  switch (std::get<JudgedBreach>(violation.breach)) {
    case Breach::other_elements:
      return {.actual = "no storage for them"};
    case Breach::moved:
      return {.expected = "the address that it had"};
    case Breach::unlisted_allocation:
      return {.expected = "no such allocation"};
    case Breach::left_allocation:
      return {.expected = "nothing"};
    case Breach::left_handles:
      return {.expected = "none"};
    case Breach::dead_buffer:
      return {.expected = "a live allocation", .actual = "none"};
    case Breach::damage_unnoticed:
      return {.expected = "a refusal: damaged_checkpoint", .actual = "the load returned"};
    case Breach::damage_misjudged:
      return {.expected = "a refusal: damaged_checkpoint", .actual = answer_of(violation)};
    case Breach::not_loaded:
      return {.expected = "what was saved", .actual = answer_of(violation)};
    case Breach::rounded_unasked:
      return {.expected = "a refusal: incompatible_checkpoint", .actual = "the load returned"};
    case Breach::foreign_loaded:
      return {.expected = "a refusal", .actual = "the load returned"};
    default:
      return {};
  }
}

}  // namespace

std::string hexadecimal(float x) {
  return printed("%a", x);
}

std::string decimal(float x) {
  return printed("%.9g", x);
}

std::string value_in_words(Breach breach, Value const& value) {
  return std::visit(ValueText{breach}, value);
}

Sides sides_in_words(Violation const& violation) {
  Breach const breach = violation.breach;
  if (kind_of(breach) == BreachKind::number) return sides_of_numbers(violation);
  if (breach == Breach::memory_kept) return {};  // its sentence says it
  Sides sides = default_sides(violation);
  if (auto expected = value_in_words(breach, violation.expected); !expected.empty())
    sides.expected = std::move(expected);
  if (auto actual = value_in_words(breach, violation.actual); !actual.empty())
    sides.actual = std::move(actual);
  return sides;
}

}  // namespace adamant::scenarios
