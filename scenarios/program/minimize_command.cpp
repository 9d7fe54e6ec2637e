#include <fmt/format.h>

#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/read_scenarios.h"
#include "scenarios/program/script_output.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/version.h"
#include "scenarios/report/json.h"
#include "scenarios/report/progress.h"
#include "scenarios/runner/expectation.h"
#include "scenarios/search/minimize/document.h"
#include "scenarios/search/minimize_in_workers.h"

namespace adamant::scenarios {

namespace {

class MinimizeCommand {
 public:
  explicit MinimizeCommand(Arguments const& arguments)
      : arguments_(arguments),
        style_(style_of(arguments)),
        outputs_(arguments),
        html_(arguments),
        script_(arguments),
        progress_(wants_progress(arguments), "runs"),
        file_(arguments.out.value_or("-")) {}

  Status execute() {
    if (!read()) return Status::bad_input;
    MinimizeAttempt const attempt = minimize_in_workers(scenario_, options());
    progress_.clear();
    Status const status = report(attempt);
    return interrupted() ? Status::interrupted : status;
  }

 private:
  bool read() {
    auto one = read_one_scenario(arguments_);
    if (!one) return false;
    name_ = std::move(one->name);
    scenario_ = std::move(one->scenario);
    return true;
  }

  WorkerOptions options() {
    WorkerOptions options{.run = {}, .at_once = arguments_.jobs};
    options.run.checkpoints = folder_of(name_);
    options.run.schedules = arguments_.schedules;
    options.progress = [this](HowFar const& far) { progress_.show(far); };
    return options;
  }

  Status report(MinimizeAttempt const& attempt) {
    if (attempt.end == MinimizeAttempt::End::minimized) {
      Status const status = script_.write(attempt.scenario, attempt.result, attempt.symptom);
      write(attempt);  // the page links to the script
      return worse(status_, status);
    }
    std::string const why = why_not(attempt);
    complain(why);
    commit({});
    html_.commit({.command = "minimize", .verdict = why, .good = false});
    return Status::not_met;
  }

  std::string why_not(MinimizeAttempt const& attempt) const {
    if (attempt.end == MinimizeAttempt::End::interrupted) return "interrupted";
    if (attempt.end == MinimizeAttempt::End::unsteady)
      return fmt::format("{}: does not fail in the same way each time: not minimised", name_);
    return fmt::format("{}: does not fail{} (expected {}, outcome {}): nothing to minimise", name_,
                       under_schedules(), text_of(scenario_.expect),
                       name_of(attempt.first.outcome));
  }

  std::string under_schedules() const {
    if (arguments_.schedules == 0) return "";
    return fmt::format(" under its own schedule and {} more", arguments_.schedules);
  }

  void write(MinimizeAttempt const& attempt) {
    std::string const stem = stem_of(attempt.scenario, attempt.symptom);
    auto const path = to_file() ? *arguments_.out : std::filesystem::path(stem + ".yaml");
    std::string const document = write_document(attempt.scenario, attempt.result, attempt.symptom,
                                                path.filename().string(), this_program());
    if (told_if_unwritten(status_, [&] { return file_.commit(document), path; }).empty())
      print(arguments_, document);  // minutes of work
    Reported reported{.result = attempt.result,
                      .replay = replay_of_file(arguments_, to_file() ? path : "-") +
                                named_command(attempt.scenario)};
    if (to_file()) reported.result.file = path.string();
    print(arguments_, told(reported, style_));
    commit(std::span(&reported, 1));
    html_.add_drawn(attempt.scenario, options().run, reported);
    html_.commit(page_frame(attempt));
  }

  Page page_frame(MinimizeAttempt const& attempt) const {
    auto const operations = operation_count(attempt.scenario.program);
    Page page{.command = "minimize",
              .verdict = fmt::format("{}: minimised to {}", name_,
                                     counted(static_cast<std::uint64_t>(operations), "operation"))};
    if (!attempt.complete) page.cut_short = "ended early: a smaller one may fail alike";
    return page;
  }

  bool to_file() const { return arguments_.out && !is_standard_output(*arguments_.out); }

  void commit(std::span<Reported const> results) {
    auto document = make_document("minimize");
    document["results"] = to_json(results);
    outputs_.commit(with_interrupt(document), results);
  }

  Arguments const& arguments_;
  Style style_;
  Outputs outputs_;
  HtmlOutput html_;
  ScriptOutput script_;
  Progress progress_;
  OutputFile file_;
  Status status_ = Status::met;
  std::string name_;
  Scenario scenario_;
};

}  // namespace

namespace option {

constexpr Option result{"-o,--out", "PATH", "Where the result goes; default: standard output",
                        path<&Arguments::out>};

}  // namespace option

Command const minimize_command{
    .name = "minimize",
    .text = "Reduce a failing scenario to a small one that fails alike",
    .example = "adamant minimize found.yaml -o small.yaml",
    .failure = "the scenario does not fail",
    .options = {option::scenario_file, option::result,
                option::schedules.with(
                    "Look for the failure under N schedules more, random and pct"),
                option::script, option::html, option::seed, option::jobs, option::json,
                option::junit, option::engine, option::bug, option::peer_timeout, option::trust},
    .run = [](Arguments const& arguments) { return MinimizeCommand(arguments).execute(); }};

}  // namespace adamant::scenarios
