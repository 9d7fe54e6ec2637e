// adamant_weave ROOT OUT BUGFILE...: puts the bugs into copies of the files that they change.
//
// Writes OUT/real/..., of the files of ROOT that some bug touches, and OUT/catalogue.cpp; removes
// what else is in OUT/real, and leaves files alone whose content is right already, so that nothing
// is compiled for it. `adamant_weave --check ROOT
// BUGFILE...` writes nothing. What is wrong is said of
// all files at once.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/catalogue_text.h"
#include "scenarios/bugs/weaver/patch.h"
#include "scenarios/bugs/weaver/weave.h"

namespace adamant::bugs {

namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_file(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), {});
  if (!in.is_open() || in.bad()) return std::nullopt;
  return text;
}

std::vector<BugFile> read_bugs(std::span<char* const> paths, Problems& problems) {
  std::vector<BugFile> bugs;
  std::map<std::string, std::string> files;  // by id
  for (std::string const path : paths) {
    auto const text = read_file(path);
    if (!text) {
      problems.push_back({path, 1, "cannot be read"});
      continue;
    }
    BugFile bug = read_bug_file(path, *text, problems);
    auto const [known, is_new] = files.emplace(bug.id, path);
    if (!is_new) problems.push_back({path, 1, "`" + bug.id + "` is in " + known->second + " too"});
    bugs.push_back(std::move(bug));
  }
  std::ranges::sort(bugs, {}, &BugFile::id);
  return bugs;
}

using WovenFiles = std::map<std::string, std::string>;  // texts by path

WovenFiles weave(fs::path const& root, std::vector<BugFile> const& bugs, Problems& problems) {
  std::map<std::string, std::vector<BugFile const*>> touching;  // by target
  for (BugFile const& bug : bugs)
    for (std::string const& target : targets_of(bug)) touching[target].push_back(&bug);
  WovenFiles woven;
  for (auto const& [path, its_bugs] : touching) {
    auto text = read_file(root / path);
    if (!text) {
      for (BugFile const* bug : its_bugs)
        problems.push_back({bug->path, target_line(*bug, path), path + " cannot be read"});
      continue;
    }
    Target const target(path, std::move(*text));
    Weave file(target, (root / path).string());
    for (BugFile const* bug : its_bugs) file.add(*bug, problems);
    woven[path] = file.text();
  }
  return woven;
}

bool write_if_new(fs::path const& path, std::string const& text) {
  if (read_file(path) == text) return true;
  fs::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out.good()) std::cerr << path.string() << ": cannot be written\n";
  return out.good();
}

void remove_others(fs::path const& out, WovenFiles const& woven) {
  if (!fs::exists(out / "real")) return;
  std::vector<fs::path> others;
  for (fs::path const& path : fs::recursive_directory_iterator(out / "real"))
    if (fs::is_regular_file(path) && !woven.contains(fs::relative(path, out).generic_string()))
      others.push_back(path);
  for (fs::path const& path : others) fs::remove(path);
}

int run(std::string const& root, std::string const& out, std::span<char* const> paths) {
  Problems problems;
  std::vector<BugFile> const bugs = read_bugs(paths, problems);
  WovenFiles const woven = weave(root, bugs, problems);
  for (Problem const& problem : problems)
    std::cerr << problem.file << ":" << problem.line << ": " << problem.message << "\n";
  if (!problems.empty()) return 1;
  if (out.empty()) return 0;
  bool written = write_if_new(fs::path(out) / "catalogue.cpp", catalogue_text(bugs));
  for (auto const& [path, text] : woven)
    written = write_if_new(fs::path(out) / path, text) && written;
  remove_others(out, woven);
  return written ? 0 : 1;
}

}  // namespace

}  // namespace adamant::bugs

int main(int argc, char** argv) {
  std::span<char* const> const arguments(argv, static_cast<std::size_t>(argc));
  if (argc < 4) {
    std::cerr << "usage: adamant_weave ROOT OUT BUGFILE...\n"
                 "       adamant_weave --check ROOT BUGFILE...\n";
    return 2;
  }
  bool const check = std::string(argv[1]) == "--check";
  try {
    return adamant::bugs::run(check ? argv[2] : argv[1], check ? "" : argv[2],
                              arguments.subspan(3));
  } catch (std::filesystem::filesystem_error const& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
