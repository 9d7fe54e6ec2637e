#include "scenarios/run/verdict/findings.h"

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

}  // namespace adamant::scenarios
