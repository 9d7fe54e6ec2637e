#include "scenarios/program/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstdint>
#include <system_error>

#include "scenarios/language/json_text.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/report/json.h"

namespace adamant::scenarios {

namespace {

constexpr std::uint64_t failures_bytes_max = std::uint64_t{64} << 20U;

bool fits(std::string const& glob, std::string const& text) {
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

/// One name for a file, from wherever the program is called.
std::string key_of(std::filesystem::path const& file) {
  std::error_code impossible;
  auto const whole = std::filesystem::weakly_canonical(file, impossible);
  return impossible ? file.string() : whole.string();
}

}  // namespace

void select(std::vector<ScenarioFile>& files, std::string const& glob, Matching matching) {
  std::erase_if(files, [&](ScenarioFile const& file) {
    bool const matches = fits(glob, file.path.string()) ||
                         fits(glob, file.path.filename().string()) ||
                         (file.is_read() && fits(glob, file.scenario.name));
    return matches == (matching == Matching::dropped);
  });
}

void keep_shard(std::vector<ScenarioFile>& files, Portion shard) {
  std::uint64_t position = 0;
  std::erase_if(files, [&](ScenarioFile const&) { return !shard.holds(position++); });
}

LastFailures::LastFailures(std::optional<std::filesystem::path> const& directory) {
  if (!directory) return;
  std::filesystem::path const path = *directory / file_name;
  std::error_code opening_says_why;
  std::filesystem::create_directories(*directory, opening_says_why);
  file_.emplace(path);
  auto const text = read_regular_file(path, failures_bytes_max);
  auto const known = parse_json<StrictJson>(text.value_or(""), false);
  if (!known.is_object() || !known.contains("failed") || !known["failed"].is_array()) return;
  for (auto const& file : known["failed"])
    if (file.is_string()) failed_.insert(file.get<std::string>());
}

void LastFailures::put_first(std::vector<ScenarioFile>& files) const {
  std::stable_partition(files.begin(), files.end(), [&](ScenarioFile const& file) {
    return failed_.contains(key_of(file.path));
  });
}

void LastFailures::note(std::filesystem::path const& file, bool met) {
  if (met)
    failed_.erase(key_of(file));
  else
    failed_.insert(key_of(file));
}

void LastFailures::write() {
  if (!file_) return;
  auto document = make_document("run");
  document["failed"] = failed_;
  file_->commit(to_text(document));
}

}  // namespace adamant::scenarios
