#include "scenarios/peers/script/violation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

namespace adamant::scenarios::script {

namespace {

bool is_number(std::string const& text) {
  if (text.empty()) return false;
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return *end == '\0';
}

/// As Python's float.hex() writes it.
std::string python_hex(std::string const& text) {
  double const x = std::strtod(text.c_str(), nullptr);
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  if (x == 0.0) return std::signbit(x) ? "-0x0.0p+0" : "0x0.0p+0";
  return fmt::format("{:.13a}", x);
}

std::string type_of(std::string const& word) {
  return word == "bf16" ? "torch.bfloat16" : word == "fp16" ? "torch.float16" : "torch.float32";
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

Subject subject_of(ViolationReport const& violation) {
  std::string name = violation.tensor;
  constexpr std::string_view whole = " (whole)";  // gathered by a rank, as all values here are
  if (name.ends_with(whole)) name.erase(name.size() - whole.size());
  auto const slash = name.find('/');
  if (slash == std::string::npos) return {.parameter = name, .kind = ""};
  return {.parameter = name.substr(0, slash), .kind = name.substr(slash + 1)};
}

std::string place_of(ViolationReport const& violation) {
  if (violation.tensor.empty()) return "";
  std::string place = violation.tensor;
  if (violation.index >= 0) place += fmt::format("[{}]", violation.index);
  return place;
}

std::optional<Interval> interval_of(std::string const& text) {
  Interval interval;
  std::string rest = text;
  if (text.starts_with("[")) {
    auto const comma = text.find(", ");
    auto const end = text.find(']');
    if (comma == std::string::npos || end == std::string::npos) return std::nullopt;
    interval.low = text.substr(1, comma - 1);
    interval.high = text.substr(comma + 2, end - comma - 2);
    rest = end + 5 <= text.size() ? text.substr(end + 5) : "";
  } else if (text.find(" or ") == std::string::npos) {
    return std::nullopt;
  }
  while (!rest.empty()) {
    auto const end = std::min(rest.find(" or "), rest.size());
    interval.others.push_back(rest.substr(0, end));
    rest.erase(0, std::min(end + 4, rest.size()));
  }
  return interval;
}

std::optional<std::array<std::string, 2>> storage_of(std::string const& text) {
  auto const in = text.find(" in ");
  if (!text.starts_with("rows [") || in == std::string::npos) return std::nullopt;
  return std::array{text.substr(0, in), text.substr(in + 4)};
}

std::optional<Setting> setting_of(ViolationReport const& violation) {
  auto const words = [](std::string const& text) {
    std::istringstream in(text);
    std::vector<std::string> found;
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  };
  auto const right = words(violation.expected);
  auto const wrong = words(violation.actual);
  constexpr std::array<std::pair<std::size_t, char const*>, 5> places = {
      {{2, "[\"lr\"]"},
       {4, "[\"betas\"][0]"},
       {5, "[\"betas\"][1]"},
       {7, "[\"eps\"]"},
       {9, "[\"weight_decay\"]"}}};
  if (right.size() < 10 || wrong.size() < 10 || right[1] != "lr") return std::nullopt;
  for (auto const& [place, key] : places)
    if (right[place] != wrong[place]) return Setting{.key = key, .expected = right[place]};
  return std::nullopt;
}

std::string expected_text(ViolationReport const& violation) {
  if (auto const stored = storage_of(violation.expected)) {
    auto const found = storage_of(violation.actual);
    if (found && (*found)[1] != (*stored)[1]) return type_of((*stored)[1]);
    long begin = 0;
    long end = 0;
    std::sscanf((*stored)[0].c_str(), "rows [%ld, %ld)", &begin, &end);
    return fmt::format("{} rows", end - begin);
  }
  if (violation.tensor.empty()) {
    auto const setting = setting_of(violation);
    return setting ? setting->expected : violation.expected;
  }
  bool const counts = violation.tensor.ends_with("/step");
  return is_number(violation.expected) && !counts ? python_hex(violation.expected)
                                                  : violation.expected;
}

// "damaged_checkpoint: CheckpointException: RuntimeError: Missing key …": the innermost counts.
std::vector<std::string> error_words(ViolationReport const& violation) {
  std::string rest = violation.actual.empty() ? violation.message : violation.actual;
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
