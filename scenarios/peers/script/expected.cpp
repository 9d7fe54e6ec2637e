#include "scenarios/peers/script/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios::script {

namespace {

/// As Python's float.hex() writes it.
std::string python_hex(float value) {
  auto const x = static_cast<double>(value);
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (x == 0.0) return std::signbit(x) ? "-0x0.0p+0" : "0x0.0p+0";
  return fmt::format("{:.13a}", x);
}

}  // namespace

std::string place_of(Violation const& violation) {
  if (violation.breach == Breach::other_file_in_run)
    return "files of " + files_like(violation).first;
  std::string const subject = subject_in_words(violation);
  if (subject.empty() || violation.index < 0) return subject;
  return fmt::format("{}[{}]", subject, violation.index);
}

std::optional<Allowed> allowed_by(Violation const& violation) {
  auto const* const interval = std::get_if<Interval>(&violation.expected);
  if (interval == nullptr) return std::nullopt;
  Allowed allowed;
  if (interval->finite_possible) {
    allowed.low = hexadecimal(interval->lo);
    allowed.high = hexadecimal(interval->hi);
  }
  if (interval->may_be_pos_inf) allowed.others.emplace_back("inf");
  if (interval->may_be_neg_inf) allowed.others.emplace_back("-inf");
  if (interval->may_be_nan) allowed.others.emplace_back("nan");
  if (allowed.low.empty() && allowed.others.size() < 2) return std::nullopt;
  return allowed;
}

bool expects_number(Violation const& violation) {
  auto const* const number = std::get_if<Number>(&violation.expected);
  return number != nullptr && std::isfinite(number->value());
}

std::string expected_text(Violation const& violation) {
  if (auto const* number = std::get_if<Number>(&violation.expected))
    return python_hex(number->value());
  if (auto const* stored = std::get_if<Elements>(&violation.expected)) {
    return fmt::format("{} rows",
                       numel_of(stored->ranges) / std::max<std::int64_t>(stored->row_numel, 1));
  }
  if (auto const difference = setting_difference(violation)) return decimal(difference->expected);
  if (auto const* there = std::get_if<Presence>(&violation.expected))
    return there->there ? "a gradient" : "no gradient";
  return sides_in_words(violation).expected;
}

// Names may have a part of their own, too, so files of the same ending are compared all together.
std::pair<std::string, std::string> files_like(Violation const& violation) {
  auto const slash = violation.text.find('/');
  auto const dot = violation.text.rfind('.');
  std::string const ending = dot == std::string::npos ? "" : violation.text.substr(dot);
  return {violation.text.substr(0, slash), "*" + ending};
}

}  // namespace adamant::scenarios::script
