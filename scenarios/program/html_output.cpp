#include "scenarios/program/html_output.h"

#include <span>
#include <utility>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/version.h"
#include "scenarios/report/trace/marks.h"
#include "scenarios/search/minimize_in_workers.h"

namespace adamant::scenarios {

HtmlOutput::HtmlOutput(Arguments const& arguments) {
  if (!arguments.html) return;
  file_.emplace(*arguments.html);
  place_ = *arguments.html;
  if (arguments.script) script_ = *arguments.script;
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
  items_.back().script = link_to(script_of(reported.result));
}

/// The one that --script names, or what a search writes beside its finding; or the session in its
/// place.
std::filesystem::path HtmlOutput::script_of(RunResult const& result) const {
  if (result.violations.empty() || has_simulated_time(result.engine)) return {};
  auto const script =
      script_.empty() ? std::filesystem::path(result.file).replace_extension(".py") : script_;
  auto session = session_in_place_of(script);
  std::error_code missing;
  return std::filesystem::exists(session, missing) ? session : script;
}

/// As the page finds it from where it lies.
std::string HtmlOutput::link_to(std::filesystem::path const& file) const {
  std::error_code missing;
  bool const nowhere = place_.empty() || file.empty() || !std::filesystem::exists(file, missing);
  if (nowhere) return {};
  auto const folder = std::filesystem::absolute(place_).parent_path();
  return std::filesystem::absolute(file).lexically_proximate(folder).generic_string();
}

void HtmlOutput::add(Reported const& reported) {
  items_.push_back({.reported = reported});
}

void HtmlOutput::add_drawn(Scenario const& scenario, RunOptions options, Reported const& reported) {
  if (!is_wanted()) return;
  PageItem item{.reported = reported,
                .scenario = write_scenario(scenario),
                .script = link_to(script_of(reported.result))};
  if (has_simulated_time(reported.result.engine) && !is_peer(scenario.engine.name)) {
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
