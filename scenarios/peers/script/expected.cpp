#include "scenarios/peers/script/expected.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string_view>

#include "scenarios/report/words/words.h"

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

std::string_view type_of(NumberFormat format) {
  return format == NumberFormat::bf16   ? "torch.bfloat16"
         : format == NumberFormat::fp16 ? "torch.float16"
                                        : "torch.float32";
}

/// "RuntimeError", "torch.OutOfMemoryError"
bool is_error_type(std::string_view word) {
  return word.find_first_of(" '(") == std::string_view::npos &&
         (word.ends_with("Error") || word.ends_with("Exception"));
}

/// At most three: what follows may be names, numbers and paths, which are not the same in a script.
std::string first_words(std::string const& text) {
  std::istringstream in(text);
  std::string found;
  int count = 0;
  for (std::string word; count < 3 && in >> word; ++count) {
    bool const plain = std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    if (!plain) break;
    found.append(found.empty() ? "" : " ").append(word);
  }
  return found;
}

}  // namespace

std::string place_of(Violation const& violation) {
  if (violation.breach == Breach::other_file_in_run)
    return "files of " + files_like(violation).first;
  std::string const subject = subject_in_words(violation);
  if (subject.empty() || violation.index < 0) return subject;
  return fmt::format("{}[{}]", subject, violation.index);
}

std::string parameter_of(Violation const& violation) {
  if (auto const* tensor = about<Tensor>(violation)) return tensor->parameter;
  if (auto const* steps = about<StepCount>(violation)) return steps->parameter;
  return "";
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

bool has_other_type(Violation const& violation) {
  auto const* const right = std::get_if<Elements>(&violation.expected);
  auto const* const wrong = std::get_if<Elements>(&violation.actual);
  return right != nullptr && wrong != nullptr && right->format != wrong->format;
}

std::string key_of(SettingDifference const& difference) {
  std::string const key = fmt::format("[\"{}\"]", difference.key);
  return difference.beta < 0 ? key : fmt::format("{}[{}]", key, difference.beta);
}

std::string written(float setting) {
  return decimal(setting);
}

std::string presence(bool there) {
  return there ? "a gradient" : "no gradient";
}

std::string expected_text(Violation const& violation) {
  if (auto const* number = std::get_if<Number>(&violation.expected))
    return python_hex(number->value());
  if (auto const* stored = std::get_if<Elements>(&violation.expected)) {
    if (has_other_type(violation)) return std::string(type_of(stored->format));
    return fmt::format("{} rows",
                       numel_of(stored->ranges) / std::max<std::int64_t>(stored->row_numel, 1));
  }
  if (auto const difference = setting_difference(violation)) return written(difference->expected);
  if (auto const* there = std::get_if<Presence>(&violation.expected)) return presence(there->there);
  return sides_in_words(violation).expected;
}

// Names may have a part of their own, too, so files of the same ending are compared all together.
std::pair<std::string, std::string> files_like(Violation const& violation) {
  auto const slash = violation.text.find('/');
  auto const dot = violation.text.rfind('.');
  std::string const ending = dot == std::string::npos ? "" : violation.text.substr(dot);
  return {violation.text.substr(0, slash), "*" + ending};
}

// "CheckpointException: RuntimeError: Missing key …": the innermost counts.
std::vector<std::string> error_words(Violation const& violation) {
  std::string rest = violation.text;
  std::string type;
  while (!rest.empty()) {
    auto const end = std::min(rest.find(": "), rest.size());
    std::string const word = rest.substr(0, end);
    bool const is_type = is_error_type(word);
    if (!is_type && !type.empty()) break;
    if (is_type) type = word;
    rest.erase(0, std::min(end + 2, rest.size()));
  }
  if (type.empty()) return {};
  std::string const words = first_words(rest);
  return words.empty() ? std::vector{type} : std::vector{type, words};
}

}  // namespace adamant::scenarios::script
