#include "scenarios/program/html_output.h"

#include <span>
#include <utility>

#include "scenarios/language/yaml/write.h"
#include "scenarios/program/version.h"
#include "scenarios/report/trace/marks.h"
#include "scenarios/search/minimize_isolated.h"

namespace adamant::scenarios {

HtmlOutput::HtmlOutput(Arguments const& arguments) {
  if (arguments.html) file_.emplace(*arguments.html);
}

void HtmlOutput::draw(std::uint64_t number, Scenario const& scenario, RunResult& result) {
  if (!is_wanted() || !is_finding({.result = result, .replay = {}})) return;
  drawn_[number] = {.scenario = write_scenario(scenario), .scenes = draw_scenes(result)};
  result.timeline = {};
}

void HtmlOutput::add(std::uint64_t number, Reported const& reported) {
  if (auto drawn = drawn_.extract(number))
    items_.push_back(std::move(drawn.mapped()));
  else
    add(reported);
  items_.back().reported = reported;
}

void HtmlOutput::add(Reported const& reported) {
  items_.push_back({.reported = reported});
}

void HtmlOutput::look_again(Scenario const& scenario, RunOptions options,
                            Reported const& reported) {
  if (!is_wanted()) return;
  PageItem item{.reported = reported, .scenario = write_scenario(scenario)};
  if (has_simulated_time(reported.result.engine)) {
    options.timelines = Timelines::of_violations;
    auto const again = run_isolated(std::span(&scenario, 1), options, 1);
    if (!again.empty() && again.front().digest == reported.result.digest)
      item.scenes = draw_scenes(again.front());
  }
  items_.push_back(std::move(item));
}

void HtmlOutput::commit(Page frame) {
  if (!is_wanted()) return;
  frame.facts.emplace_back("version", this_program().version);
  frame.facts.emplace_back("commit", this_program().commit);
  frame.items = std::move(items_);
  file_->commit(to_html(frame));
}

}  // namespace adamant::scenarios
