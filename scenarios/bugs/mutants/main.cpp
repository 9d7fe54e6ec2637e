// adamant_mutate ROOT OUT COUNT SEED EXCLUDED FILE... draws COUNT mutants of the files of ROOT and
// weaves them into copies in OUT, beside a catalogue of them; adamant_mutate --list ROOT FILE...
// prints the ids of all there are. EXCLUDED names those that no compiler accepts: they are left
// out.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/bugs/mutants/mutant.h"
#include "scenarios/bugs/mutants/sample.h"
#include "scenarios/bugs/weaver/lines.h"
#include "scenarios/bugs/weaver/project.h"

namespace adamant::bugs {

namespace {

std::string expect_file(std::filesystem::path const& path) {
  auto text = read_file(path);
  if (!text) throw std::runtime_error(path.string() + ": cannot be read");
  return std::move(*text);
}

/// All mutants of some files, and what a sample knows of each.
struct Population {
  std::deque<Target> targets;
  std::vector<Mutant> mutants;
  std::vector<Stratum> strata;
};

std::uint64_t lot_of(std::string_view id, std::uint64_t seed) {
  std::uint64_t lot = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (char const c : id) lot = (lot ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return lot ^ (lot >> 29);
}

Population all_mutants(std::filesystem::path const& root, std::vector<std::string> const& files,
                       std::uint64_t seed) {
  Population all;
  for (std::size_t file = 0; file < files.size(); ++file) {
    Target const& target = all.targets.emplace_back(files[file], expect_file(root / files[file]));
    for (Mutant& mutant : mutants_of(target)) {
      all.strata.push_back({.operator_index = mutant.made_by,
                            .file = file,
                            .function = file * 1000 + mutant.function,
                            .lot = lot_of(mutant.id, seed)});
      all.mutants.push_back(std::move(mutant));
    }
  }
  return all;
}

/// The ids of a file: a word a line, and after it a reason.
std::set<std::string> read_ids(std::string const& path) {
  std::string const text = expect_file(path);
  std::set<std::string> ids;
  for (std::string_view const line : lines_of(text))
    if (!line.empty() && line.front() != '#') ids.emplace(line.substr(0, line.find(' ')));
  return ids;
}

int list(std::span<char* const> arguments) {
  Population const all = all_mutants(arguments[2], {arguments.begin() + 3, arguments.end()}, 0);
  for (Mutant const& mutant : all.mutants) std::cout << mutant.id << "\n";
  return 0;
}

int weave(std::span<char* const> arguments) {
  Project const project{.root = arguments[1], .out = arguments[2], .bug_files = {}};
  std::vector<std::string> const files(arguments.begin() + 6, arguments.end());
  Population const all = all_mutants(project.root, files, std::stoull(arguments[4]));
  std::set<std::string> const excluded = read_ids(arguments[5]);
  std::vector<BugFile> bugs;
  // Drawn first and left out then: so a new exclusion changes nothing else.
  for (std::size_t const i : draw_sample(all.strata, std::stoull(arguments[3]))) {
    Mutant const& mutant = all.mutants[i];
    if (excluded.contains(mutant.id)) continue;
    std::size_t const file = all.strata[i].file;
    BugFile& bug = bugs.emplace_back(bug_of(mutant, all.targets[file]));
    // A compiler says its id, and what tells files by their folder finds it in that of its target.
    bug.path = ((project.root / files[file]).parent_path() / bug.id).string();
  }
  std::ranges::sort(bugs, {}, &BugFile::id);
  return exit_status(weave_bugs(project, files, bugs));
}

}  // namespace

}  // namespace adamant::bugs

int main(int argc, char** argv) {
  std::span<char* const> const arguments(argv, static_cast<std::size_t>(argc));
  bool const lists = argc > 3 && std::string(arguments[1]) == "--list";
  if (!lists && argc < 7) {
    std::cerr << "usage: adamant_mutate ROOT OUT COUNT SEED EXCLUDED FILE...\n"
                 "       adamant_mutate --list ROOT FILE...\n";
    return 2;
  }
  try {
    return lists ? adamant::bugs::list(arguments) : adamant::bugs::weave(arguments);
  } catch (std::exception const& error) {
    std::cerr << "adamant_mutate: " << error.what() << "\n";
    return 1;
  }
}
