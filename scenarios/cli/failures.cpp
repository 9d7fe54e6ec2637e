#include "scenarios/cli/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "scenarios/report/output_file.h"
#include "scenarios/yaml/write.h"

namespace adamant::scenarios {

namespace {

/// "w/exp_avg" and "p0/exp_avg" are one defect, and so are "w" and "p0".
std::string kind_of(std::string const& tensor) {
  auto const slash = tensor.rfind('/');
  return slash == std::string::npos ? "" : tensor.substr(slash);
}

/// "ncclAllGather of 16 bytes" and "ncclAllGather of 24 bytes" are one defect, too.
std::string without_numbers(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

std::string signature_of(ViolationReport const& violation) {
  std::string signature = violation.law + kind_of(violation.tensor);
  for (AccessReport const& access : violation.accesses) {
    signature += fmt::format("|{} {}", without_numbers(access.operation), access.kind);
  }
  return signature;
}

std::string text_of(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

std::string signature_of(RunResult const& result) {
  if (!result.violations.empty()) return signature_of(result.violations.front());
  return fmt::format("{}|{}", file_stem_of(result), result.reason);
}

std::string file_stem_of(RunResult const& result) {
  if (!result.violations.empty()) return result.violations.front().law;
  return result.outcome == Outcome::refused ? result.reason : "error";
}

void Failures::add(std::uint64_t case_index, RunResult result) {
  auto const signature = signature_of(result);
  auto const found = first_.find(signature);
  if (found != first_.end() && found->second.case_index <= case_index) return;
  first_[signature] = {.case_index = case_index, .result = std::move(result)};
}

std::vector<Failure> Failures::take() const {
  std::vector<Failure> failures;
  for (auto const& [signature, failure] : first_) failures.push_back(failure);
  std::sort(failures.begin(), failures.end(),
            [](Failure const& a, Failure const& b) { return a.case_index < b.case_index; });
  return failures;
}

Scenario make_replay(Scenario scenario, RunResult const& result) {
  scenario.seed = result.seed;
  scenario.engine.name = result.engine;
  // fifo answers every question the same way again; anything else needs its record.
  bool const recorded = scenario.schedule.strategy != Schedule::Strategy::fifo;
  if (recorded && !result.choices.empty()) scenario.schedule = {.choices = result.choices};
  if (!result.violations.empty()) {
    scenario.expect = {.kind = Expectation::Kind::violates, .id = result.violations.front().law};
  } else if (result.outcome == Outcome::refused) {
    scenario.expect = {.kind = Expectation::Kind::refused, .id = result.reason};
  }
  return scenario;
}

std::filesystem::path write_failure(std::filesystem::path const& directory, std::string const& stem,
                                    Scenario const& scenario) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw CannotWrite(directory.string() + ": cannot be made: " + error.message());
  std::string const text = write_scenario(scenario);
  for (int number = 1;; ++number) {
    auto const path =
        directory / (number == 1 ? stem + ".yaml" : fmt::format("{}-{}.yaml", stem, number));
    if (std::filesystem::exists(path) && text_of(path) != text) continue;
    write_whole(path, text);
    return path;
  }
}

}  // namespace adamant::scenarios
