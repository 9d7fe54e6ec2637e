#include "oracle/explain/trace.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/formats/formats.h"

namespace adamant::oracle {
namespace {

/// The step of numbers with so many significant bits around x.
double step_at(double x, int bits, double smallest) {
  if (x == 0) return smallest;
  return std::max(std::ldexp(1.0, std::ilogb(x) - (bits - 1)), smallest);
}

/// What x + y has beyond `sum`, which is that rounded to binary64.
double rest_of_sum(double x, double y, double sum) {
  double const of_y = sum - x;
  return (x - (sum - of_y)) + (y - of_y);
}

/// The name as a factor: a sum is put in parentheses.
std::string factor(Term const& term) {
  bool const plain = term.name.front() == '(' || term.name.find_first_of("+-") == std::string::npos;
  return plain || term.name.find(' ') == std::string::npos ? term.name : "(" + term.name + ")";
}

std::string joined(std::string_view operation, Term const& a, Term const& b) {
  bool const sums = operation == "+" || operation == "-";
  return (sums ? a.name : factor(a)) + " " + std::string(operation) + " " +
         (sums ? b.name : factor(b));
}

}  // namespace

Term Trace::add(Rounding rounding) {
  roundings_.push_back(std::move(rounding));
  return {roundings_.back().result, roundings_.back().value};
}

Term Trace::given(std::string name, double value) {
  return add(
      {.result = std::move(name), .formula = "", .inputs = {}, .format = "", .value = value});
}

Term Trace::take(std::string name, std::string formula, std::vector<Term> inputs, float value,
                 Exact const& exact) {
  Rounding rounding{.result = std::move(name),
                    .formula = std::move(formula),
                    .inputs = std::move(inputs),
                    .format = "fp32",
                    .value = value};
  bool const finite = std::isfinite(value) && std::isfinite(exact.value);
  if (exact.rest == 0) rounding.exact = exact.value;
  if (finite)
    rounding.distance = ((value - exact.value) - exact.rest) /
                        step_at(value, 24, smallest_positive(NumberFormat::fp32));
  return add(std::move(rounding));
}

Term Trace::sum(std::string name, Term const& a, Term const& b) {
  double const exact = a.value + b.value;
  return take(std::move(name), joined("+", a, b), {a, b}, a.fp32() + b.fp32(),
              {exact, std::isfinite(exact) ? rest_of_sum(a.value, b.value, exact) : 0});
}

Term Trace::difference(std::string name, Term const& a, Term const& b) {
  double const exact = a.value - b.value;
  return take(std::move(name), joined("-", a, b), {a, b}, a.fp32() - b.fp32(),
              {exact, std::isfinite(exact) ? rest_of_sum(a.value, -b.value, exact) : 0});
}

// Two binary32 have a product of 48 bits.
Term Trace::product(std::string name, Term const& a, Term const& b) {
  return take(std::move(name), joined("*", a, b), {a, b}, a.fp32() * b.fp32(),
              {a.value * b.value, 0});
}

Term Trace::quotient(std::string name, Term const& a, Term const& b) {
  double const exact = a.value / b.value;
  bool const finite = std::isfinite(exact) && std::isfinite(b.value);
  return take(std::move(name), joined("/", a, b), {a, b}, a.fp32() / b.fp32(),
              {exact, finite ? -std::fma(exact, b.value, -a.value) / b.value : 0});
}

Term Trace::root(std::string name, Term const& a) {
  double const exact = std::sqrt(a.value);
  bool const finite = std::isfinite(exact) && exact > 0;
  return take(std::move(name), "sqrt(" + a.name + ")", {a}, std::sqrt(a.fp32()),
              {exact, finite ? -std::fma(exact, exact, -a.value) / (2 * exact) : 0});
}

Term Trace::fused(std::string name, Term const& a, Term const& b, Term const& c) {
  double const product = a.value * b.value;
  double const exact = product + c.value;
  return take(std::move(name), a.name + " * " + b.name + " + " + c.name, {a, b, c},
              std::fma(a.fp32(), b.fp32(), c.fp32()),
              {exact, std::isfinite(exact) ? rest_of_sum(product, c.value, exact) : 0});
}

Term Trace::kept(std::string name, Term const& x, float value, Kept const& as) {
  Rounding rounding{.result = std::move(name),
                    .formula = x.name,
                    .inputs = {x},
                    .exact = x.value,
                    .format = std::string(as.format),
                    .value = value};
  if (std::isfinite(x.value) && std::isfinite(value))
    rounding.distance = (value - x.value) / step_at(value, as.significant_bits, as.smallest);
  return add(std::move(rounding));
}

Term Trace::rounded(std::string name, Term const& x, NumberFormat format) {
  return kept(std::move(name), x, oracle::rounded(x.fp32(), format),
              {name_of(format), significant_bits(format), smallest_positive(format)});
}

Term Trace::noted(std::string name, std::string formula, std::vector<Term> inputs, double value,
                  std::string format) {
  return add({.result = std::move(name),
              .formula = std::move(formula),
              .inputs = std::move(inputs),
              .format = std::move(format),
              .value = value});
}

}  // namespace adamant::oracle
