#include "scenarios/judge/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

namespace adamant::scenarios {

namespace {

constexpr int kept_of_a_law = 4;

std::string printed(char const* format, float x) {
  std::array<char, 64> text{};
  int const length = std::snprintf(text.data(), text.size(), format, static_cast<double>(x));
  return {text.data(), static_cast<std::size_t>(length)};
}

std::string interval_text(oracle::Admissible const& admissible, std::string (*written)(float)) {
  std::vector<std::string> parts;
  if (admissible.finite_possible)
    parts.push_back(fmt::format("[{}, {}]", written(admissible.lo), written(admissible.hi)));
  if (admissible.may_be_pos_inf) parts.emplace_back("inf");
  if (admissible.may_be_neg_inf) parts.emplace_back("-inf");
  if (admissible.may_be_nan) parts.emplace_back("nan");
  return fmt::format("{}", fmt::join(parts, " or "));
}

}  // namespace

std::string hexadecimal(float x) {
  return printed("%a", x);
}

std::string decimal(float x) {
  return printed("%.9g", x);
}

std::string tensor_name(ParameterSpec const& spec, TensorKind kind) {
  if (kind == TensorKind::parameter) return spec.name;
  return spec.name + "/" + std::string(name_of(kind));
}

bool full(std::vector<ViolationReport> const& reports, std::string_view law) {
  return std::count_if(reports.begin(), reports.end(), [&](ViolationReport const& report) {
           return report.law == law;
         }) >= kept_of_a_law;
}

void Findings::add(ViolationReport report) {
  if (full(report.law)) return;
  report.operation = operation_;
  reports_.push_back(std::move(report));
}

void Findings::add(std::string_view law, Place const& place, Text const& text) {
  ViolationReport report;
  report.law = law;
  report.rank = place.rank;
  report.tensor = place.tensor;
  report.index = place.index;
  report.expected = text.expected;
  report.actual = text.actual;
  report.message = text.message;
  add(std::move(report));
}

void Findings::add_values(std::string_view law, Place const& place,
                          oracle::Difference const& difference) {
  ViolationReport report;
  report.law = law;
  report.rank = place.rank;
  report.tensor = place.tensor;
  report.index = place.index;
  report.expected = hexadecimal(difference.expected);
  report.actual = hexadecimal(difference.actual);
  report.expected_decimal = decimal(difference.expected);
  report.actual_decimal = decimal(difference.actual);
  report.ulp = difference.ulps;
  report.message = "the engine's bits differ from the oracle's";
  add(std::move(report));
}

void Findings::add_outside(Place const& place, oracle::Admissible const& admissible, float actual,
                           std::string message) {
  ViolationReport report;
  report.law = "values.interval";
  report.rank = place.rank;
  report.tensor = place.tensor;
  report.index = place.index;
  report.expected = interval_text(admissible, hexadecimal);
  report.expected_decimal = interval_text(admissible, decimal);
  report.actual = hexadecimal(actual);
  report.actual_decimal = decimal(actual);
  if (admissible.finite_possible)
    report.ulp = std::min(oracle::ulp_distance(actual, admissible.lo),
                          oracle::ulp_distance(actual, admissible.hi));
  report.message = std::move(message);
  add(std::move(report));
}

}  // namespace adamant::scenarios
