#include "scenarios/program/inputs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <variant>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/operations.h"
#include "scenarios/program/selection.h"
#include "scenarios/report/output_file.h"

namespace adamant::scenarios {

namespace {

namespace fs = std::filesystem;

/// A pipe or a device can be read and written at once, so they are nothing here.
std::optional<std::pair<dev_t, ino_t>> identity_of(fs::path const& path, int of_standard) {
  struct stat found {};
  int const failed = path == "-" ? ::fstat(of_standard, &found) : ::stat(path.c_str(), &found);
  if (failed != 0 || !(S_ISREG(found.st_mode) || S_ISDIR(found.st_mode))) return std::nullopt;
  return std::pair(found.st_dev, found.st_ino);
}

}  // namespace

Inputs::Inputs(Arguments const& arguments) {
  std::error_code none;
  for (fs::path const& path : arguments.paths)  // of scenarios in directories readers know more
    if (arguments.command == &merge_command || !fs::is_directory(path, none)) add(path);
  if (arguments.engine) add_engine(*arguments.engine);
  if (arguments.known) add(*arguments.known);
  if (arguments.campaign) add(*arguments.campaign);
}

void Inputs::add(fs::path const& path) {
  auto const own = identity_of(path, STDIN_FILENO);
  if (own) read_.emplace(*own, path);
  if (path == "-") return;
  if (own) around_.emplace(*own, path);
  std::error_code none;
  // The directory of a link holds the link, that of its target what is read.
  for (fs::path place : {fs::absolute(path, none), fs::weakly_canonical(path, none)})
    while (place.has_relative_path()) {
      place = place.parent_path();
      auto const identity = identity_of(place, STDIN_FILENO);
      if (identity && !around_.emplace(*identity, path).second) break;
    }
  for (fs::recursive_directory_iterator entry(path, none), end; !none && entry != end;
       entry.increment(none))
    if (auto const identity = identity_of(entry->path(), STDIN_FILENO))
      read_.emplace(*identity, entry->path());
}

/// The files that the command of an engine names, that of `module:Class` too.
void Inputs::add_engine(std::string_view engine) {
  if (!is_command(engine)) return;
  std::string words(engine.substr(exec_prefix.size()));
  std::ranges::replace_if(
      words, [](char c) { return c == '\'' || c == '"'; }, ' ');
  std::istringstream rest(words);
  std::error_code none;
  for (std::string word; rest >> word;)
    for (fs::path const file : {word, word.substr(0, word.find(':')) + ".py"})
      if (fs::is_regular_file(file, none)) add(file);
}

void Inputs::add(ScenarioFile const& file) {
  add(file.path);
  if (!file.is_read()) return;
  add_engine(file.scenario.engine.name);
  for (Load const* load : all<Load>(file.scenario.program)) add(folder_of(file.path) / load->from);
}

void Inputs::refuse_as_outputs(Arguments const& arguments) const {
  std::vector<Output> outputs = outputs_of(arguments);
  if (arguments.cache) outputs.push_back({"--cache", *arguments.cache / LastFailures::file_name});
  if (arguments.command != &minimize_command && arguments.out)
    outputs.push_back({"--out", *arguments.out});
  for (auto const& [option, path] : outputs) {
    auto const identity = identity_of(is_standard_output(path) ? "-" : path, STDOUT_FILENO);
    if (auto const found = identity ? read_.find(*identity) : read_.end(); found != read_.end())
      throw CannotWrite(fmt::format("{}: {} is an input ({}), and stays as it is", option,
                                    path.string(), found->second.string()));
  }
}

void Inputs::refuse_in_dump(fs::path const& directory) const {
  auto const identity = identity_of(directory, STDOUT_FILENO);
  if (auto const found = identity ? around_.find(*identity) : around_.end(); found != around_.end())
    throw CannotWrite(fmt::format("--dump: {} would be replaced, and {} is in it",
                                  directory.string(), found->second.string()));
}

}  // namespace adamant::scenarios
