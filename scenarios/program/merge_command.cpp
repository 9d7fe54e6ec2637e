// `adamant merge DIR…`.
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "scenarios/campaign/ledger.h"
#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/shard.h"
#include "scenarios/language/plain_text.h"
#include "scenarios/program/arguments.h"
#include "scenarios/program/html_output.h"
#include "scenarios/program/options.h"
#include "scenarios/program/outputs.h"
#include "scenarios/program/search_report.h"
#include "scenarios/program/version.h"
#include "scenarios/report/html/ledger_tables.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

using Path = std::filesystem::path;

class MergeCommand {
 public:
  explicit MergeCommand(Arguments const& arguments)
      : arguments_(arguments), outputs_(arguments), html_(arguments) {
    if (arguments.out) expect_writable(*arguments.out);
    for (Path const& directory : arguments.paths) read(directory);
  }

  Status execute() {
    Ledger const ledger = ledger_of(*settings_, shards_);
    RunOptions options;
    options.strict = settings_->strict;
    std::vector<Reported> results;
    Names names;
    for (KeptFinding kept : ledger.tally.findings) {
      tell_apart(kept.finding, names);
      kept.finding.versions = settings_->versions;  // no engine runs here that a journal names
      results.push_back(reported(arguments_, settings_->seed, kept.finding, file_of(kept)));
      print(arguments_, told(results.back(), style_of(arguments_)));
      html_.add_drawn(kept.finding.scenario, options, results.back());
    }
    bool const all = arguments_.verbosity == Verbosity::verbose;
    if (arguments_.verbosity != Verbosity::quiet)
      print(arguments_, printable_lines(describe(ledger, all ? Zeros::shown : Zeros::left_out)));
    auto document = make_document("merge");
    document.update(to_json(ledger));
    document["results"] = to_json(results);
    outputs_.commit(document, results);
    html_.commit(page_frame(ledger, results.size()));
    return worse(status_, results.empty() ? Status::met : Status::not_met);
  }

 private:
  Page page_frame(Ledger const& ledger, std::size_t found) const {
    return {
        .command = "merge",
        .verdict = fmt::format("{} in {}", found == 0 ? "nothing found" : counted(found, "defect"),
                               counted(ledger.tally.cases(), "case")),
        .good = found == 0,
        .facts = {{"seed", std::to_string(settings_->seed)},
                  {"engine",
                   settings_->versions.empty() ? settings_->engine : settings_->versions}},
        .ledger = ledger_section(ledger)};
  }

  void read(Path const& directory) {
    auto const settings = read_settings(directory);
    if (!settings)
      throw CampaignError(directory.string() + ": is no campaign: there is no campaign.json in it");
    if (!settings_) settings_ = settings;
    if (std::string const differs = difference(*settings, *settings_); !differs.empty())
      throw CampaignError(fmt::format("{}: {} as in {}; only shards of one campaign are merged",
                                      directory.string(), differs,
                                      arguments_.paths.front().string()));
    for (auto& [index, tally] : read_shards(directory, *settings)) {
      if (auto const other = directories_.find(index); other != directories_.end())
        throw CampaignError(fmt::format(
            "{}: shard {} is in {} as well; leave one of them out", directory.string(),
            name_of({.index = index, .count = settings->shards}), other->second.string()));
      shards_[index] = std::move(tally);
      directories_[index] = directory;
    }
  }

  Path file_of(KeptFinding const& kept) {
    if (arguments_.out)
      return told_if_unwritten(
          status_, [&] { return write_finding(*arguments_.out, kept.finding, this_program()); });
    Portion const shard{.index = kept.shard, .count = settings_->shards};
    return directories_.at(kept.shard) / name_of(shard) / kept.file;
  }

  Arguments const& arguments_;
  Outputs outputs_;
  HtmlOutput html_;
  std::optional<CampaignSettings> settings_;
  std::map<std::uint64_t, Tally> shards_;
  std::map<std::uint64_t, Path> directories_;
  Status status_ = Status::met;
};

}  // namespace

namespace option {

constexpr Option campaigns{"DIR", "", "What --campaign of fuzz named, on each machine",
                           word<&Arguments::paths>, Times::at_least_once};

}  // namespace option

Command const merge_command{
    .name = "merge",
    .text = "What the shards of a campaign have found and done together",
    .example = "adamant merge nightly --json ledger.json",
    .failure = "something was found",
    .options = {option::campaigns, option::out.with("Directory for what fails, each defect once"),
                option::html, option::json, option::junit},
    .run = [](Arguments const& arguments) { return MergeCommand(arguments).execute(); }};

}  // namespace adamant::scenarios
