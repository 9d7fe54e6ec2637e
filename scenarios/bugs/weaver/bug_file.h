// Reads a bug file: four lines that say what the bug is, then hunks that say how it is made.
//
//   id: te_3318
//   law: ranks.agree
//   source: https://github.com/NVIDIA/TransformerEngine/pull/3318
//   symptom: the counter stands still on ranks that own no element of it
//
//   --- real/step/step_table.cpp
//   @@ StepTable::advance
//      for (Group& group : groups_) {
//   -    group.step += 1;
//   +    if (owns_elements(group)) group.step += 1;
//      }
//
// It knows nothing of the files that hunks change.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace adamant::bugs {

/// What is wrong with a bug file, as compilers say it: file:line: message.
struct Problem {
  std::string file;
  int line = 1;
  std::string message;
};

using Problems = std::vector<Problem>;

struct HunkLine {
  enum class Kind { context, removed, added };
  Kind kind = Kind::context;
  std::string text;
  int line = 1;  // of the bug file
};

struct Hunk {
  std::string target;    // the file to change, from the project's root
  std::string function;  // or empty: outside of all functions
  int line = 1;          // of its @@
  int target_line = 1;   // of its ---
  std::vector<HunkLine> lines;

  /// Those that stand in the target, one after the other.
  std::vector<HunkLine const*> expected() const;
};

struct BugFile {
  std::string path;  // as problems name it
  std::string id;
  std::string law;
  std::string source;
  std::string symptom;
  std::string text;  // the whole file
  std::vector<Hunk> hunks;
};

/// Errors: each is added to `problems`; what could be read is returned.
BugFile read_bug_file(std::string const& path, std::string_view text, Problems& problems);

}  // namespace adamant::bugs
