#include "scenarios/judge/findings.h"

#include <algorithm>
#include <utility>

namespace adamant::scenarios {

namespace {

constexpr int kept_of_a_law = 4;

/// The subject, whichever parameter it is of.
Subject without_parameter(Subject subject) {
  if (auto* const tensor = std::get_if<Tensor>(&subject)) tensor->parameter.clear();
  if (auto* const steps = std::get_if<StepCount>(&subject)) steps->parameter.clear();
  return subject;
}

bool is_same_mistake(Violation const& a, Violation const& b) {
  return a.law == b.law && a.breach == b.breach && a.operation == b.operation &&
         a.reason == b.reason && a.text == b.text &&
         without_parameter(a.subject) == without_parameter(b.subject);
}

}  // namespace

bool full(std::vector<Violation> const& violations, Law law) {
  return std::count_if(violations.begin(), violations.end(), [&](Violation const& violation) {
           return violation.law == law;
         }) >= kept_of_a_law;
}

Violation* RunFindings::add(Violation violation) {
  violation.operation = operation_;
  auto const known = std::ranges::find_if(
      violations_, [&](Violation const& earlier) { return is_same_mistake(earlier, violation); });
  if (known != violations_.end()) {
    fold(*known, violation);
    return nullptr;
  }
  if (full(violation.law)) return nullptr;
  Violation& added = violations_.emplace_back(std::move(violation));
  return keeps_ == Keeps::whether_any ? nullptr : &added;
}

void RunFindings::keep_first_value() {
  bool kept = false;
  std::erase_if(violations_, [&](Violation const& violation) {
    return matches("values", violation.law) && std::exchange(kept, true);
  });
}

Violation other_value(Law law, Site const& site, oracle::Difference const& difference) {
  return {.law = law,
          .breach = Breach::other_value,
          .rank = site.rank,
          .subject = site.subject,
          .index = site.index,
          .expected = Number(difference.expected),
          .actual = Number(difference.actual),
          .ulp = difference.ulps};
}

Violation outside_value(Breach breach, Site const& site, oracle::Admissible const& admissible,
                        float actual) {
  Violation violation{.law = Law::values_interval,
                      .breach = breach,
                      .rank = site.rank,
                      .subject = site.subject,
                      .index = site.index,
                      .expected = admissible,
                      .actual = Number(actual)};
  if (admissible.finite_possible)
    violation.ulp = std::min(oracle::ulp_distance(actual, admissible.lo),
                             oracle::ulp_distance(actual, admissible.hi));
  return violation;
}

WrongElements wrong_elements(std::vector<ElementRange> elements, oracle::Whereabouts const& of) {
  auto some = oracle::some_elements(std::move(elements), of);
  return {.ranges = std::move(some.ranges),
          .count = some.count,
          .part = static_cast<WrongElements::Part>(some.part),
          .ranks = std::move(some.ranks)};
}

}  // namespace adamant::scenarios
