#include "scenarios/bugs/weaver/project.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/catalogue_text.h"
#include "scenarios/bugs/weaver/patch.h"
#include "scenarios/bugs/weaver/weave.h"

namespace adamant::bugs {

namespace {

namespace fs = std::filesystem;

using Texts = std::map<std::string, std::string>;  // by path, from the root

std::vector<BugFile> read_bugs(std::vector<std::string> const& paths, Problems& problems) {
  std::vector<BugFile> bugs;
  std::map<std::string, std::string> files;  // by id
  for (std::string const& path : paths) {
    auto const text = read_file(path);
    if (!text) {
      problems.push_back({path, 1, "cannot be read"});
      continue;
    }
    BugFile bug = read_bug_file(path, *text, problems);
    auto const [other, is_new] = files.emplace(bug.id, path);
    if (!is_new && !bug.id.empty())
      problems.push_back({path, 1, "`" + bug.id + "` is in " + other->second + " too"});
    bugs.push_back(std::move(bug));
  }
  std::ranges::sort(bugs, {}, &BugFile::id);
  return bugs;
}

/// A bug that changes a file, and the line of its `---`.
struct Change {
  BugFile const* bug = nullptr;
  int line = 1;
};

std::map<std::string, std::vector<Change>> changes_by_target(std::vector<BugFile> const& bugs) {
  std::map<std::string, std::vector<Change>> all;
  for (BugFile const& bug : bugs)
    for (Hunk const& hunk : bug.hunks)
      if (auto& of_file = all[hunk.target]; of_file.empty() || of_file.back().bug != &bug)
        of_file.push_back({&bug, hunk.target_line});
  return all;
}

Texts weave(fs::path const& root, std::vector<std::string> const& files,
            std::vector<BugFile> const& bugs, Problems& problems) {
  auto all = changes_by_target(bugs);
  for (std::string const& path : files) all[path];
  Texts woven;
  for (auto const& [path, changes] : all) {
    auto text = read_file(root / path);
    if (!text) {
      for (auto const& [bug, line] : changes)
        problems.push_back({bug->path, line, path + " cannot be read"});
      continue;
    }
    Target const target(path, std::move(*text));
    Weave weave(target, (root / path).string());
    for (auto const& [bug, line] : changes) weave.add(*bug, problems);
    woven.emplace(path, weave.text());
  }
  return woven;
}

void write_if_new(fs::path const& path, std::string const& text) {
  if (read_file(path) == text) return;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out.good())
    throw fs::filesystem_error("cannot be written", path,
                               std::make_error_code(std::errc::io_error));
}

void remove_others(fs::path const& out, Texts const& texts) {
  std::vector<fs::path> others;
  for (char const* const folder : {"real", "sim", "scenarios"}) {
    if (!fs::exists(out / folder)) continue;
    for (fs::path const& path : fs::recursive_directory_iterator(out / folder))
      if (fs::is_regular_file(path) && !texts.contains(fs::relative(path, out).generic_string()))
        others.push_back(path);
  }
  for (fs::path const& path : others) fs::remove(path);
}

void write(fs::path const& out, Texts texts, std::vector<BugFile> const& bugs) {
  remove_others(out, texts);
  texts.emplace("catalogue.cpp", catalogue_text(bugs));
  for (auto const& [path, text] : texts) write_if_new(out / path, text);
}

}  // namespace

std::optional<std::string> read_file(fs::path const& path) {
  if (!fs::is_regular_file(path)) return std::nullopt;
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in.is_open() || in.bad()) return std::nullopt;
  return text;
}

Problems weave_project(Project const& project) {
  Problems problems;
  std::vector<BugFile> const bugs = read_bugs(project.bug_files, problems);
  return weave_bugs(project, {}, bugs, std::move(problems));
}

Problems weave_bugs(Project const& project, std::vector<std::string> const& files,
                    std::vector<BugFile> const& bugs, Problems problems) {
  Texts texts = weave(project.root, files, bugs, problems);
  if (problems.empty() && project.out) write(*project.out, std::move(texts), bugs);
  return problems;
}

int exit_status(Problems const& problems) {
  for (Problem const& problem : problems)
    std::cerr << problem.file << ":" << problem.line << ": " << problem.message << "\n";
  return problems.empty() ? 0 : 1;
}

}  // namespace adamant::bugs
