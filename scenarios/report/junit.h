// Results as JUnit XML, which CI systems show: one test case a result. Nothing is computed here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "scenarios/report/text.h"

namespace adamant::scenarios {

/// One <testsuite> named `suite`. What did not meet its expectation is a <failure> and what died or
/// cannot be read an <error>, with the text that the terminal shows and the broken law or the
/// reason as its message; what this machine lacks something for is <skipped> with the reason.
std::string to_junit(std::string_view suite, std::span<Reported const> results);

}  // namespace adamant::scenarios
