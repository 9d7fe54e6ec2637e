// Law:        a device of as many bytes as a run had at its peak carries the run; on a smaller one
//             it is refused as out_of_memory, and nothing is violated
// Sense:      exact: the same bits of outcome, at every size that was tried.
// Not said:   how much a real allocator's fragmentation adds; the simulated one has none.
// Must catch: bug `iseekyan_158`, whose peak the right engine's device cannot carry.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "properties/laws/law.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"

namespace adamant::properties {
namespace {

using scenarios::Outcome;
using scenarios::RunResult;
using scenarios::Scenario;

RunResult on_device_of(std::size_t bytes, Scenario const& scenario, std::string const& bug) {
  scenarios::RunOptions options;
  options.bug = bug;
  options.device_bytes = bytes;
  return scenarios::run_scenario(scenario, options);
}

std::string text_of(RunResult const& result) {
  if (result.outcome == Outcome::pass) return "pass";
  if (!result.violations.empty()) return in_one_line(result.violations.front());
  return result.reason;
}

std::string peak_suffices(Scenario const& scenario, std::string const& bug) {
  std::size_t const peak = on_device_of(1ULL << 30, scenario, "").device_peak_bytes;
  RunResult const result = on_device_of(peak, scenario, bug);
  if (result.outcome == Outcome::pass) return no_difference;
  return fmt::format("on a device of {} bytes: {}", peak, text_of(result));
}

RC_GTEST_PROP(Peak, IsEnough, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  classify(scenario);
  RC_ASSERT(peak_suffices(scenario, "") == no_difference);
}

RC_GTEST_PROP(Peak, IsNeededAndLessIsRefused, ()) {
  auto const scenario = *scenarios::scenario_gen().as("scenario");
  std::size_t const peak = on_device_of(1ULL << 30, scenario, "").device_peak_bytes;
  RC_PRE(peak > 0U);
  auto const bytes = *rc::gen::inRange<std::size_t>(0, peak).as("bytes of a device");
  RC_ASSERT(text_of(on_device_of(bytes, scenario, "")) == "out_of_memory");
}

TEST(Peak, IsNotEnoughForBuffersThatAreKeptTooLong) {
  expect_caught(peak_suffices, "iseekyan_158");
}

}  // namespace
}  // namespace adamant::properties
