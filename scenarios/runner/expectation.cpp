#include "scenarios/runner/expectation.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "scenarios/language/laws.h"

namespace adamant::scenarios {

std::string text_of(Expectation const& expectation) {
  switch (expectation.kind) {
    case Expectation::Kind::pass:
      return "pass";
    case Expectation::Kind::violates:
      return "violates " + expectation.id;
    case Expectation::Kind::refused:
      break;
  }
  return "refused " + expectation.id;
}

bool meets(RunResult const& result, Expectation const& expectation) {
  switch (expectation.kind) {
    case Expectation::Kind::pass:
      return result.outcome == Outcome::pass;
    case Expectation::Kind::violates:
      return result.outcome == Outcome::violated &&
             std::any_of(result.violations.begin(), result.violations.end(),
                         [&](Violation const& violation) {
                           return matches(expectation.id, violation.law);
                         });
    case Expectation::Kind::refused:
      break;
  }
  return result.outcome == Outcome::refused &&
         (expectation.id == "any" || matches(expectation.id, result.reason));
}

// What a file asks for is refused before anything runs, for these reasons; the others are found out
// by running.
bool may_be_met(Expectation const& expectation) {
  if (expectation.kind != Expectation::Kind::refused) return true;
  constexpr std::string_view known_beforehand[] = {"unsupported", "scalar_parameter"};
  return std::none_of(std::begin(known_beforehand), std::end(known_beforehand),
                      [&](std::string_view id) { return matches(id, expectation.id); });
}

}  // namespace adamant::scenarios
