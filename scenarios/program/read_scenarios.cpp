#include "scenarios/program/read_scenarios.h"

#include <iostream>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "scenarios/language/yaml/load.h"
#include "scenarios/pool/interrupt.h"

namespace adamant::scenarios {

namespace {

ScenarioFile read(std::filesystem::path const& file) {
  std::string const text = file == "-" ? read_scenario_text(std::cin) : read_scenario_text(file);
  LoadOptions const options{.models_directory = {}, .checkpoints_directory = folder_of(file)};
  return {.path = file,
          .scenario = load_scenario_text(text, file.string(), options),
          .written = provenance_in(text)};
}

class Reader {
 public:
  void add(std::filesystem::path const& path) {
    if (path == "-") return add_file(path);
    try {
      for (auto const& file : find_scenarios(path)) add_file(file);
    } catch (LoadError const& error) {
      files_.push_back({.path = path, .error = error.what()});
    }
  }
  std::vector<ScenarioFile> take() { return std::move(files_); }

 private:
  void add_file(std::filesystem::path const& file) {
    std::error_code ignored;
    if (interrupted() || !seen_.insert(std::filesystem::weakly_canonical(file, ignored)).second) {
      return;
    }
    try {
      files_.push_back(read(file));
    } catch (LoadError const& error) {
      files_.push_back({.path = file, .error = error.what()});
    }
  }

  std::vector<ScenarioFile> files_;
  std::set<std::filesystem::path> seen_;
};

}  // namespace

std::filesystem::path folder_of(std::filesystem::path const& file) {
  return file.has_parent_path() ? file.parent_path() : ".";
}

std::string adapter_around(std::filesystem::path const& file) {
  constexpr std::string_view prefix = "adamant_";
  std::error_code unread;
  auto folder = std::filesystem::weakly_canonical(file, unread).parent_path();
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    std::set<std::string> names;  // an adapter may have further packages, as of another engine
    for (auto const& entry : std::filesystem::directory_iterator(folder, unread)) {
      std::string const name = entry.path().filename();
      if (name.starts_with(prefix) && std::filesystem::exists(entry.path() / "__main__.py", unread))
        names.insert(name.substr(prefix.size()));
    }
    if (!names.empty()) return *names.begin();
  }
  return "";
}

std::vector<ScenarioFile> read_scenarios(std::span<std::filesystem::path const> paths) {
  Reader reader;
  for (auto const& path : paths) reader.add(path);
  return reader.take();
}

}  // namespace adamant::scenarios
