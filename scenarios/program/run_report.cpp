#include "scenarios/program/run_report.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "scenarios/pool/interrupt.h"
#include "scenarios/report/json.h"
#include "scenarios/seam/versions.h"

namespace adamant::scenarios {

namespace {

StrictJson run_document(std::span<Reported const> results, std::span<Reported const> passed_over) {
  auto document = make_document("run");
  document["results"] = to_json(results);
  for (Reported const& passed : passed_over)
    document["skipped"].push_back({{"scenario", passed.result.name},
                                   {"file", passed.result.file},
                                   {"reason", passed.lacking}});
  return document;
}

}  // namespace

RunReport::RunReport(Arguments const& arguments)
    : arguments_(arguments),
      style_(style_of(arguments)),
      outputs_(arguments),
      html_(arguments),
      progress_(wants_progress(arguments), "scenarios"),
      progress_of_one_(wants_progress(arguments), "operations") {}

void RunReport::add_unread(std::uint64_t number, Reported reported) {
  ++unread_;
  put(number, std::move(reported), false);
}

void RunReport::show_operations(std::uint64_t done, std::uint64_t total) {
  if (finished_.empty()) progress_of_one_.show({.done = done, .total = total});
}

void RunReport::add(std::uint64_t number, Scenario const& scenario, Reported reported) {
  html_.draw(number, scenario, reported.result);
  Outcome const outcome = reported.result.outcome;
  bool const has_run = outcome == Outcome::pass || outcome == Outcome::violated;
  if (has_run && !arguments_.dry_run) engines_.insert(reported.result.engine);
  reported.alone = total_ == 1;
  put(number, std::move(reported), true);
  show();
}

void RunReport::put(std::uint64_t number, Reported reported, bool is_read) {
  if (!reported.result.met) ++failed_;
  finished_[number] = {.reported = std::move(reported), .is_read = is_read};
}

/// Prints what is finished as far as no file before it is missing.
void RunReport::show() {
  progress_of_one_.clear();
  for (auto next = finished_.find(printed_); next != finished_.end();
       next = finished_.find(printed_)) {
    print_result(next->second);
    ++printed_;
  }
  if (total_ > 1) progress_.show({.done = finished_.size(), .total = total_, .failed = failed_});
}

void RunReport::print_result(Entry const& entry) {
  Reported const& reported = entry.reported;
  // What cannot be read has been complained about.
  std::string const text = entry.is_read ? told(reported, style_) : annotated(reported);
  warnings_ += reported.result.warnings.size();
  if (text.empty()) return;
  progress_.clear();
  print(arguments_, text);
}

void RunReport::finish(std::span<Reported const> passed_over, Status status) {
  progress_.clear();
  progress_of_one_.clear();
  std::vector<Reported> results;
  for (auto& [number, entry] : finished_) {
    if (number >= printed_) print_result(entry);  // who ended early left gaps before it
    html_.add(number, entry.reported);
    results.push_back(std::move(entry.reported));
  }
  if (unread_ < total_ || status == Status::met) summarise();
  auto document = run_document(results, passed_over);
  if (is_stopped()) document["stopped"] = true;
  for (Reported const& passed : passed_over) html_.add(passed);
  results.insert(results.end(), passed_over.begin(), passed_over.end());
  outputs_.commit(with_interrupt(document), results);
  html_.commit(page_frame(status));
}

/// By --fail-fast.
bool RunReport::is_stopped() const {
  return arguments_.fail_fast && failed_ > 0 && finished_.size() < total_;
}

void RunReport::summarise() const {
  if (interrupted()) return complain(cut_short());
  if (style_.verbosity != Verbosity::quiet) print(arguments_, verdict() + "\n");
}

std::string RunReport::cut_short() const {
  return fmt::format("interrupted: {} of {} finished", finished_.size(),
                     counted(total_, "scenario"));
}

std::string RunReport::verdict() const {
  auto const ended = failed_ == 0 ? "all as expected" : fmt::format("{} not as expected", failed_);
  std::string const what =
      is_stopped() ? fmt::format("stopped: {} of {}", finished_.size(), counted(total_, "scenario"))
                   : counted(finished_.size(), "scenario");
  std::string const warned = warnings_ == 0 ? "" : ", " + counted(warnings_, "warning");
  return fmt::format("{}, {}{}", what, ended, warned);
}

Page RunReport::page_frame(Status status) const {
  Page page{.command = "run", .verdict = verdict(), .good = status == Status::met};
  for (std::string const& engine : engines_)
    if (auto const versions = versions_of(engine); !versions.empty())
      page.facts.emplace_back("engine", engine + ": " + versions);
  if (interrupted()) page.cut_short = cut_short();
  return page;
}

}  // namespace adamant::scenarios
