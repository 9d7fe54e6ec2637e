// Weaves a whole project: reads bug files and the files that they change, writes the woven ones.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"

namespace adamant::bugs {

struct Project {
  std::filesystem::path root;                // real/ is in it
  std::optional<std::filesystem::path> out;  // none: only look what is wrong
  std::vector<std::string> bug_files;
};

/// Writes OUT/real/..., of the files of ROOT that some bug changes, and OUT/catalogue.cpp; removes
/// what else is in OUT/real, and likewise OUT/sim and OUT/scenarios. A file whose content is right
/// already is left alone, so that nothing is compiled for it. Returns what is wrong with all bug
/// files; then nothing is written.
///
/// Errors: std::filesystem::filesystem_error where a file cannot be written.
Problems weave_project(Project const& project);

/// Likewise of bugs that are read already and brought `problems` then. Written are all `files`
/// (paths from ROOT), too.
Problems weave_bugs(Project const& project, std::vector<std::string> const& files,
                    std::vector<BugFile> const& bugs, Problems problems = {});

/// Of a program that tells all of them on the standard error, as compilers do.
int exit_status(Problems const& problems);

/// Content of a file, or nothing where there is none.
std::optional<std::string> read_file(std::filesystem::path const& path);

}  // namespace adamant::bugs
