#include "scenarios/report/html/testing/pages.h"

#include <utility>

#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

PageItem item_of(std::string const& file) {
  RunOptions options;
  options.lines = true;
  options.seed = 0;
  options.timelines = Timelines::of_violations;
  Scenario const scenario = load_scenario_file(ADAMANT_SOURCE_DIR "/scenarios/corpus/" + file);
  PageItem item{.reported = {.result = run_scenario(scenario, options),
                             .replay = "adamant run '" + file + "'"},
                .scenario = write_scenario(scenario)};
  item.reported.result.file = file;
  item.scenes = draw_scenes(item.reported.result);
  item.reported.result.timeline = {};
  item.reported.result.wall_seconds = 0;
  return item;
}

PageItem plain_item(std::string const& name, bool met) {
  PageItem item;
  item.reported.result.name = name;
  item.reported.result.outcome = met ? Outcome::pass : Outcome::error;
  item.reported.result.expected = "pass";
  item.reported.result.met = met;
  return item;
}

Page page_of(std::vector<PageItem> items) {
  Page page{.command = "run", .verdict = "a verdict", .facts = {{"seed", "7"}}};
  page.items = std::move(items);
  return page;
}

Ledger small_ledger() {
  Tally tally;
  for (std::uint64_t i = 0; i < 6; ++i) {
    SearchedCase ended{.index = i, .features = set_of(Feature::schedule_random)};
    if (i == 0) {
      ended.features = set_of(Feature::several_params);
      ended.values = {.cases = 1, .different = 1};
    }
    if (i == 1)
      ended = {.index = i,
               .features = set_of(Feature::schedule_pct),
               .schedule_chance = 0.25,
               .marks = 1U << static_cast<unsigned>(sim::CoverageMark::sum_by_tree),
               .schedule_depth = 3};
    if (i == 2) {
      RunResult result;
      result.outcome = Outcome::violated;
      result.violations.push_back({.law = Law::order_race});
      ended.failure = Failure{.case_index = i, .result = std::move(result)};
    }
    tally.add(ended);
  }
  KeptFinding& kept = tally.findings.emplace_back();
  kept.signature = "a";
  kept.finding.case_index = 2;
  return ledger_of({.seed = 7, .engine = "sim"}, {{0, std::move(tally)}});
}

}  // namespace adamant::scenarios
