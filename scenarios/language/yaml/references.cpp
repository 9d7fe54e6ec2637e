#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "scenarios/language/json_text.h"
#include "scenarios/language/operations.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

constexpr char manifest_name[] = "adamant.json";
constexpr std::uint64_t bytes_max = 100'000'000;

using Json = nlohmann::json;

/// With which norm and loss scale a program goes on from a checkpoint beside its scenario. Whether
/// the files are whole is for who loads them. Nothing where the directory has no manifest of
/// adamant's that says it.
std::optional<FoundManifest> find_manifest(std::filesystem::path const& directory) {
  static Json::json_pointer const where("/body/numbers");
  auto const text = read_regular_file(directory / manifest_name, bytes_max);
  Json const manifest = text ? parse_json<Json>(*text, false) : Json();
  if (!manifest.contains(where)) return std::nullopt;
  Json const& numbers = manifest.at(where);
  FoundManifest found{.has_loss_scale = numbers.contains("loss_scale")};
  if (auto const norm = numbers.find("clip"); norm != numbers.end() && norm->is_number())
    found.clip = norm->get<float>();
  return found;
}

std::string index_path(std::string_view list, std::size_t index, std::string_view key) {
  return join_path(join_path(std::string(list), index), key);
}

void check_groups(Reader& reader, Scenario const& scenario) {
  std::vector<std::string_view> defined;
  for (Group const& group : scenario.groups) defined.push_back(group.name);
  std::set<std::string_view> const names(defined.begin(), defined.end());
  for (std::size_t i = 0; i < scenario.params.size(); ++i) {
    Param const& param = scenario.params[i];
    if (param.group.empty() || names.contains(param.group)) continue;
    std::string const right =
        defined.empty() ? "; expected `groups: {" + param.group + ": {…}}` too"
                        : suggest(param.group, defined) + "; defined: " + list_words(defined);
    reader.fail(param.line.value, index_path("params", i, "group"),
                "no group " + quote(param.group) + " is defined" + right);
  }
}

void check_faults(Reader& reader, Scenario const& scenario, Field const& faults) {
  std::int64_t const ranks = most_ranks(scenario);
  for (std::size_t i = 0; i < scenario.faults.size(); ++i) {
    if (scenario.faults[i].rank.value_or(0) < ranks) continue;
    reader.fail(faults.node->items[i]->line, index_path("faults", i, "rank"),
                "expected a rank below " + std::to_string(ranks) + ", found " +
                    std::to_string(*scenario.faults[i].rank));
  }
}

void check_again(Reader& reader, Scenario const& scenario, Field const& again) {
  auto const entries = static_cast<std::int64_t>(scenario.program.size());
  for (std::size_t i = 0; i < scenario.again.size(); ++i) {
    std::int64_t const after = scenario.again[i].resumed_after.value_or(0);
    if (after <= entries) continue;
    reader.fail(
        again.node->items[i]->line, index_path("again", i, "resumed_after"),
        "the program has " + std::to_string(entries) + " entries, found " + std::to_string(after));
  }
}

/// Walks a program and checks the names that its operations use.
class ProgramNames {
 public:
  ProgramNames(Reader& reader, Scenario const& scenario, LoadOptions const& options)
      : reader_(reader), options_(options) {
    for (Param const& param : scenario.params) params_.insert(param.name);
  }

  void walk(std::vector<Operation>& program, std::string const& path) {
    for (std::size_t i = 0; i < program.size(); ++i) visit(program[i], join_path(path, i));
  }

 private:
  void visit(Operation& operation, std::string const& path) {
    auto& action = operation.action;
    auto const line = operation.line.value;
    if (auto const* backward = std::get_if<Backward>(&action)) check_without(*backward, line, path);
    if (auto const* save = std::get_if<Save>(&action)) saved_.insert(save->checkpoint);
    if (auto* load = std::get_if<Load>(&action)) check_load(*load, line, path);
    if (auto* capture = std::get_if<Capture>(&action)) walk(capture->body, path + ".capture");
  }

  void check_without(Backward const& backward, int line, std::string const& path) {
    for (std::string const& name : backward.without) {
      if (params_.contains(name)) continue;
      reader_.fail(line, path + ".backward.without",
                   "no parameter " + quote(name) + " is listed under params");
    }
  }

  void check_load(Load& load, int line, std::string const& path) {
    if (saved_.contains(load.from)) return;
    std::error_code error;
    auto const directory = options_.checkpoints_directory / load.from;
    bool const on_disk =
        !options_.checkpoints_directory.empty() && std::filesystem::is_directory(directory, error);
    if (on_disk) {
      load.found = find_manifest(directory);
      return;
    }
    reader_.fail(line, path + ".load",
                 "nothing to load: no save of " + quote(load.from) +
                     " comes before it, and no directory of that name is beside the scenario file");
  }

  Reader& reader_;
  LoadOptions const& options_;
  std::set<std::string_view> params_;
  std::set<std::string_view> saved_;
};

}  // namespace

void check_references(Reader& reader, Scenario& scenario, Field const& document,
                      LoadOptions const& options) {
  check_groups(reader, scenario);
  for (Entry const& entry : document.node->entries) {
    if (entry.key == "faults") check_faults(reader, scenario, document.value(entry));
    if (entry.key == "again") check_again(reader, scenario, document.value(entry));
  }
  ProgramNames(reader, scenario, options).walk(scenario.program, "program");
}

}  // namespace adamant::scenarios
