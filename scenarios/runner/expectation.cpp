#include "scenarios/runner/expectation.h"

#include <algorithm>

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

}  // namespace adamant::scenarios
