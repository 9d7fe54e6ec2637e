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

}  // namespace

std::string place_of(Violation const& violation) {
  if (violation.breach == Breach::other_file_in_run)
    return "files of " + files_like(violation).first;
  std::string const subject = subject_in_words(violation);
  if (subject.empty() || violation.index < 0) return subject;
  return fmt::format("{}[{}]", subject, violation.index);
}

Json expected_of(Violation const& violation) {
  auto const* const interval = std::get_if<Interval>(&violation.expected);
  if (interval == nullptr) return expected_text(violation);
  Json expected = Json::object();
  if (interval->finite_possible)
    expected = {{"low", hexadecimal(interval->lo)}, {"high", hexadecimal(interval->hi)}};
  Json others = Json::array();
  if (interval->may_be_pos_inf) others.push_back("inf");
  if (interval->may_be_neg_inf) others.push_back("-inf");
  if (interval->may_be_nan) others.push_back("nan");
  if (expected.empty() && others.size() < 2) return expected_text(violation);
  expected["or"] = std::move(others);
  return expected;
}

bool expects_number(Violation const& violation) {
  auto const* const number = std::get_if<Number>(&violation.expected);
  return number != nullptr ? std::isfinite(number->value()) : expected_of(violation).is_object();
}

// Names may have a part of their own, too, so files of the same ending are compared all together.
std::pair<std::string, std::string> files_like(Violation const& violation) {
  auto const slash = violation.text.find('/');
  auto const dot = violation.text.rfind('.');
  std::string const ending = dot == std::string::npos ? "" : violation.text.substr(dot);
  return {violation.text.substr(0, slash), "*" + ending};
}

}  // namespace adamant::scenarios::script
