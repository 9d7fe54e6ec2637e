// adamant_mutate ROOT OUT COUNT SEED EXCLUDED FILE... draws COUNT mutants of the files of ROOT and
// weaves them into copies in OUT, beside a catalogue of them; adamant_mutate --list ROOT FILE...
// prints the ids of all there are. EXCLUDED names those that no compiler accepts: they are left
// out.
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/bugs/mutants/mutant.h"
#include "scenarios/bugs/mutants/operators.h"
#include "scenarios/bugs/mutants/sample.h"
#include "scenarios/bugs/weaver/lines.h"
#include "scenarios/bugs/weaver/project.h"

namespace adamant::bugs {

namespace {

struct Found {
  Target const* target = nullptr;
  std::size_t file = 0;
  Mutant mutant;
};

struct Population {
  std::vector<std::unique_ptr<Target>> targets;
  std::vector<Found> mutants;
};

Population all_mutants(std::filesystem::path const& root, std::vector<std::string> const& files) {
  Population all;
  for (std::string const& file : files) {
    auto text = read_file(root / file);
    if (!text) throw std::runtime_error(file + ": cannot be read");
    all.targets.push_back(std::make_unique<Target>(file, std::move(*text)));
    Target const& target = *all.targets.back();
    for (Mutant& mutant : mutants_of(target))
      all.mutants.push_back({&target, all.targets.size(), std::move(mutant)});
  }
  return all;
}

/// The ids of a file: a word a line, and after it a reason.
std::set<std::string> read_ids(std::string const& path) {
  auto const text = read_file(path);
  if (!text) throw std::runtime_error(path + ": cannot be read");
  std::set<std::string> ids;
  for (std::string_view const line : lines_of(*text))
    if (!line.empty() && line.front() != '#') ids.emplace(line.substr(0, line.find(' ')));
  return ids;
}

std::uint64_t lot_of(std::string_view id, std::uint64_t seed) {
  std::uint64_t lot = 0xcbf29ce484222325ULL ^ (seed * 0x9e3779b97f4a7c15ULL);
  for (char const c : id) lot = (lot ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return lot ^ (lot >> 29);
}

std::vector<Stratum> strata_of(std::vector<Found> const& mutants, std::uint64_t seed) {
  std::map<std::string_view, std::size_t> operator_indices;
  for (Operator const& one : operators())
    operator_indices.emplace(one.name, operator_indices.size());
  std::vector<Stratum> strata;
  for (Found const& found : mutants)
    strata.push_back({.operator_index = operator_indices.at(found.mutant.operator_name),
                      .file = found.file,
                      .function = found.file * 1000 + found.mutant.function,
                      .lot = lot_of(found.mutant.id, seed)});
  return strata;
}

/// A compiler says its id, and what tells files by their folder finds it in that of its target.
BugFile named(BugFile bug, std::filesystem::path const& root) {
  bug.path = ((root / bug.hunks.front().target).parent_path() / bug.id).string();
  return bug;
}

int list(std::span<char* const> arguments) {
  Population const all = all_mutants(arguments[2], {arguments.begin() + 3, arguments.end()});
  for (Found const& found : all.mutants) std::cout << found.mutant.id << "\n";
  return 0;
}

int weave(std::span<char* const> arguments) {
  Project const project{.root = arguments[1], .out = arguments[2], .bug_files = {}};
  std::vector<std::string> const files(arguments.begin() + 6, arguments.end());
  Population const all = all_mutants(project.root, files);
  std::set<std::string> const excluded = read_ids(arguments[5]);
  std::vector<BugFile> bugs;
  auto const strata = strata_of(all.mutants, std::stoull(arguments[4]));
  // Drawn first and left out then: so a new exclusion changes nothing else.
  for (std::size_t const i : draw_sample(strata, std::stoull(arguments[3])))
    if (!excluded.contains(all.mutants[i].mutant.id))
      bugs.push_back(named(bug_of(all.mutants[i].mutant, *all.mutants[i].target), project.root));
  std::ranges::sort(bugs, {}, &BugFile::id);
  Problems const problems = weave_bugs(project, files, bugs);
  for (Problem const& problem : problems)
    std::cerr << problem.file << ":" << problem.line << ": " << problem.message << "\n";
  return problems.empty() ? 0 : 1;
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
