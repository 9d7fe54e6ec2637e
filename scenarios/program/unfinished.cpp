#include "scenarios/program/unfinished.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

#include "scenarios/program/outputs.h"
#include "scenarios/program/version.h"
#include "scenarios/search/findings.h"

namespace adamant::scenarios {

Unfinished::Unfinished(Arguments const& arguments)
    : quiet_(arguments.verbosity == Verbosity::quiet) {
  if (arguments.out) folder_ = *arguments.out / "unfinished";
}

Status Unfinished::add(Failure const& failure, Scenario const& scenario) {
  Status status = Status::met;
  auto const symptom = symptom_of(failure.result, scenario.expect).value_or(Symptom{});
  std::string line = fmt::format("found {} in case {}", id_of(symptom), failure.case_index);
  if (!folder_.empty()) {
    auto const path = told_if_unwritten(status, [&] { return written(failure, scenario); });
    if (path.empty()) end();  // and no further one is tried
    if (!path.empty()) line += ": " + path.string();
  }
  if (!quiet_) complain(line);
  return status;
}

std::filesystem::path Unfinished::written(Failure const& failure, Scenario const& scenario) {
  Finding const found = as_found(failure, scenario, "not minimised yet");
  // A killed search may have left another scenario of this name.
  auto const path =
      write_finding(folder_, fmt::format("case-{}", failure.case_index), found, this_program());
  files_.push_back(path);
  return path;
}

void Unfinished::end() {
  std::error_code gone;
  for (auto const& file : files_) std::filesystem::remove(file, gone);
  files_.clear();
  // Only where nothing of another search is in it.
  if (!folder_.empty()) std::filesystem::remove(folder_, gone);
  folder_.clear();
}

}  // namespace adamant::scenarios
