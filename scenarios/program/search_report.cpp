#include "scenarios/program/search_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenarios/language/plain_text.h"
#include "scenarios/pool/interrupt.h"
#include "scenarios/program/outputs.h"
#include "scenarios/report/html/ledger_tables.h"
#include "scenarios/report/json.h"
#include "scenarios/report/text.h"
#include "scenarios/search/minimize/document.h"
#include "scenarios/search/search.h"

namespace adamant::scenarios {

namespace {

std::string replay_of_case(Arguments const& arguments, std::uint64_t seed, Finding const& finding) {
  std::string line = fmt::format("{} fuzz --seed {} --skip {} --cases 1",
                                 shell_quoted(arguments.program), seed, finding.case_index);
  std::string const& engine = finding.scenario.engine.name;
  if (engine != SearchEngine().name) line += " --engine " + shell_quoted(engine);
  if (finding.scenario.bug) line += " --bug " + *finding.scenario.bug;
  return line + repeated_options(arguments);
}

std::string cut_short(std::uint64_t cases) {
  return fmt::format("interrupted after {} cases", cases);
}

std::string verdict(std::size_t found) {
  return found == 0 ? "nothing found" : counted(found, "distinct failure");
}

StrictJson to_json(KnownMet const& known) {
  auto defects = StrictJson::object();
  for (KnownMet::Defect const& defect : known.defects) defects[defect.name] = defect.cases;
  return {{"cases", known.masked},
          {"share_of_time", known.share_of_time},
          {"defects", std::move(defects)},
          {"not_shown", known.not_shown},
          {"of_other_versions", known.of_other_versions}};
}

std::string describe(KnownMet const& known, std::uint64_t cases) {
  if (known.empty()) return "";
  std::string text =
      fmt::format("{} of {} met known defects of this engine, in {:.0f} % of the time\n",
                  known.masked, counted(cases, "case"), 100 * known.share_of_time);
  for (KnownMet::Defect const& defect : known.defects) {
    if (defect.cases == 0) continue;
    text += fmt::format("{:6}  {}: {}{}\n", defect.cases, defect.name, defect.cause,
                        defect.thread.empty() ? "" : " " + defect.thread);
  }
  if (!known.not_shown.empty())
    text += fmt::format("not seen here: {}\n", fmt::join(known.not_shown, ", "));
  if (!known.of_other_versions.empty())
    text += fmt::format("known of other versions, and seen here: {}\n",
                        fmt::join(known.of_other_versions, ", "));
  return text;
}

StrictJson search_document(Searched const& searched, std::span<Reported const> results) {
  auto document = make_document("fuzz");
  document["seed"] = searched.seed;
  document["cases"] = searched.seen.cases();
  document["cases_per_second"] = searched.cases_per_second();
  document["distribution"] = features_json(searched.seen, searched.lacking);
  document["pairs"] = pairs_json(searched.seen, searched.lacking);
  document["two_schedules"] = to_json(searched.values);
  if (!searched.known.empty()) document["known"] = to_json(searched.known);
  document["exclusive_pairs"] = exclusive_json(searched.lacking);
  document["results"] = to_json(results);
  return document;
}

Page search_page(Searched const& searched, std::size_t found, Ledger const& ledger) {
  Page page{.command = "fuzz",
            .verdict = verdict(found) + " in " + counted(searched.seen.cases(), "case"),
            .good = found == 0 && !interrupted(),
            .facts = {{"seed", std::to_string(searched.seed)}},
            .ledger = ledger_section(ledger)};
  if (!ledger.settings.versions.empty())
    page.facts.emplace_back("engine", ledger.settings.versions);
  if (!searched.known.empty())
    page.facts.emplace_back("met known defects", counted(searched.known.masked, "case"));
  if (interrupted()) page.cut_short = cut_short(searched.seen.cases());
  return page;
}

void print_summary(Arguments const& arguments, Searched const& searched, std::size_t found) {
  std::uint64_t const cases = searched.seen.cases();
  if (interrupted()) complain(cut_short(cases));
  if (arguments.verbosity != Verbosity::quiet) {
    bool const all = arguments.verbosity == Verbosity::verbose;
    Zeros const zeros = all ? Zeros::shown : Zeros::left_out;
    if (cases > 0)
      print(arguments,
            printable_lines(describe(searched.seen, searched.lacking, zeros) +
                            describe(searched.values) + describe(searched.known, cases)));
  } else if (found == 0) {
    return;
  }
  std::string const earlier =
      searched.cases_now < cases ? fmt::format(", {} of them now", searched.cases_now) : "";
  print(arguments,
        fmt::format("{}{} in {:.1f} s, {} cases/s: {}\n", counted(cases, "case"), earlier,
                    searched.seconds, per_second(searched.cases_per_second()), verdict(found)));
}

}  // namespace

void TimeSpent::add(SearchedCase const& ended) {
  all += ended.seconds;
  if (!ended.known.empty()) masked += ended.seconds;
}

KnownMet::KnownMet(KnownHere const& known, Tally const& tally, TimeSpent const& spent)
    : not_shown(known.not_shown()),
      of_other_versions(known.of_other_versions()),
      masked(tally.masked),
      share_of_time(spent.all > 0 ? spent.masked / spent.all : 0) {
  for (KnownDefect const& defect : known.defects()) {
    auto const met = tally.known.find(defect.name);
    defects.push_back(
        {defect.name, defect.cause, defect.thread, met == tally.known.end() ? 0 : met->second});
  }
}

std::string repeated_options(Arguments const& arguments) {
  std::string line;
  if (arguments.known) line += " --known " + shell_quoted(arguments.known->string());
  for (std::string const& name : arguments.unknown) line += " --unknown " + shell_quoted(name);
  if (arguments.peer_timeout)
    line += fmt::format(" --peer-timeout {}", arguments.peer_timeout->count());
  return line;
}

RunOptions run_options(Arguments const& arguments) {
  RunOptions options;
  options.strict = arguments.strict;
  return options;
}

std::string replay_of_file(Arguments const& arguments, std::filesystem::path const& file) {
  return fmt::format("{} run {}", shell_quoted(arguments.program), shell_quoted(file.string()));
}

std::vector<Reported> with_search(Searched const& searched, std::span<Reported const> results) {
  std::uint64_t const cases = searched.seen.cases();
  Reported search;
  search.result.name = fmt::format("search: {} of seed {}", counted(cases, "case"), searched.seed);
  search.result.met = cases > 0;
  search.result.wall_seconds = searched.seconds;
  if (cases == 0) search.lacking = "no case was searched";
  std::vector<Reported> all{std::move(search)};
  all.insert(all.end(), results.begin(), results.end());
  return all;
}

void report_search(Arguments const& arguments, Searched const& searched,
                   std::span<Reported const> results, Outputs& outputs, HtmlOutput& html,
                   std::function<Ledger()> const& ledger) {
  print_summary(arguments, searched, results.size());
  outputs.commit(with_interrupt(search_document(searched, results)),
                 with_search(searched, results));
  if (html.is_wanted()) html.commit(search_page(searched, results.size(), ledger()));
}

Reported reported(Arguments const& arguments, std::uint64_t seed, Finding const& finding,
                  std::filesystem::path const& file) {
  Reported reported{.result = finding.result, .replay = replay_of_case(arguments, seed, finding)};
  reported.minimized = finding.is_minimized() && finding.complete;
  if (file.empty()) return reported;
  reported.result.file = file.string();
  if (finding.result.outcome != Outcome::error)
    reported.replay = replay_of_file(arguments, file) + named_command(finding.scenario);
  return reported;
}

}  // namespace adamant::scenarios
