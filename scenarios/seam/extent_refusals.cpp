#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>

namespace adamant::scenarios {

namespace {

/// Counts along a program.
class Extent {
 public:
  explicit Extent(Scenario const& scenario)
      : params_(std::ssize(scenario.params)), setting_(setting_of(scenario)), settings_{setting_} {}

  void follow(Action const& action) {
    ++operations_;
    if (auto const* capture = std::get_if<Capture>(&action))
      for (Operation const& captured : capture->body) record(captured.action);
    if (auto const* load = std::get_if<Load>(&action)) {
      setting_ = with(std::move(setting_), *load);
      settings_.insert(setting_);
    }
  }
  /// Settings that a further run adds.
  void pass_through(std::int64_t worlds) { passed_ += worlds; }

  std::int64_t count() const {
    return params_ * (std::ssize(settings_) + passed_) + operations_ + 2 * passed_;
  }
  std::string text() const {
    return fmt::format("{} parameters in {} settings and {} operations", params_,
                       std::ssize(settings_) + passed_, operations_);
  }

 private:
  void record(Action const& action) {
    constexpr std::int64_t weight = 4;  // unrolled they are kept, with a norm in force and without
    constexpr std::int64_t most_of_train = 4;
    auto const* const train = std::get_if<Train>(&action);
    operations_ +=
        weight * (train == nullptr ? 1 : most_of_train * std::min(train->count, extent_max));
  }

  std::int64_t params_;
  Setting setting_;
  std::set<Setting> settings_;
  std::int64_t operations_ = 0;
  std::int64_t passed_ = 0;
};

[[noreturn]] void refuse_too_much(std::string const& found, SourceLine line) {
  refuse_at(line, "extent",
            "{} are more than is looked at before anything runs; supported: up to {} parameters, "
            "once for each setting that loads lead to, and operations, all of it once for each run",
            found, extent_max);
}

}  // namespace

void refuse_extent(Scenario const& scenario) {
  Extent extent(scenario);
  for (Operation const& operation : scenario.program) {
    extent.follow(operation.action);
    if (extent.count() > extent_max) refuse_too_much(extent.text(), operation.line);
  }
  for (Again const& again : scenario.again) extent.pass_through(std::ssize(again.through));
  std::int64_t const runs = 1 + std::ssize(scenario.other_worlds) + std::ssize(scenario.again);
  if (extent.count() > extent_max / runs)
    refuse_too_much(fmt::format("{} in {} runs", extent.text(), runs),
                    scenario.lines[scenario.again.empty() ? "worlds" : "again"]);
}

}  // namespace adamant::scenarios
