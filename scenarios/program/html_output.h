// The page that --html names. What is on it is scenarios/report/html's part.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/program/arguments.h"
#include "scenarios/report/html/page.h"
#include "scenarios/report/output_file.h"
#include "scenarios/runner/run.h"

namespace adamant::scenarios {

class HtmlOutput {
 public:
  /// Without --html nothing happens. Errors: CannotWrite.
  explicit HtmlOutput(Arguments const& arguments);

  bool is_wanted() const { return file_.has_value(); }

  /// Draws the pictures of job `number` and takes the timeline out of its result: there may be many
  /// results, and a timeline is long.
  void draw(std::uint64_t number, Scenario const& scenario, RunResult& result);

  /// The next of the page: what was drawn of job `number`, if anything was.
  void add(std::uint64_t number, Reported const& reported);
  /// The same of what was not run here.
  void add(Reported const& reported);

  /// The next of the page, of a search: what `scenario` came to. It is run once more, in a worker,
  /// for its timeline, where its engine has one.
  void add_drawn(Scenario const& scenario, RunOptions options, Reported const& reported);

  /// Writes the page: `frame` with all that was added. Errors: CannotWrite.
  void commit(Page frame);

 private:
  std::filesystem::path script_of(RunResult const& result) const;
  std::string link_to(std::filesystem::path const& file) const;

  std::optional<OutputFile> file_;
  std::filesystem::path place_;   // of the page
  std::filesystem::path script_;  // that --script names
  std::map<std::uint64_t, PageItem> drawn_;
  std::vector<PageItem> items_;
};

}  // namespace adamant::scenarios
