// Puts bugs into one file. Each function that a bug changes becomes a switch over all of them: one
// copy of its body for each bug, with that bug's changes, and one as it stands. So bugs cannot get
// into each other's way. Lines that are added outside of functions are there for every bug, once
// where several bugs bring the same.
//
// Compilers, assertions and debuggers go on naming the file as it stands, or the bug file where a
// line comes from there: #line says so.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/bugs/weaver/bug_file.h"
#include "scenarios/bugs/weaver/patch.h"
#include "scenarios/bugs/weaver/woven_text.h"

namespace adamant::bugs {

/// Is it no file of the engine? Then its mistakes are selected beside a bug of the engine
/// (selected_in_harness.h).
bool is_of_harness(std::string_view path);

class Weave {
 public:
  /// `name` is what a compiler is to call the target.
  Weave(Target const& target, std::string name);

  /// Takes in what `bug`, which must outlive this, changes in the target.
  /// Errors: added to `problems`, with the line of the bug file.
  void add(BugFile const& bug, Problems& problems);

  std::string text() const;

 private:
  struct Placed {
    Hunk const* hunk = nullptr;
    Fit fit;
  };
  struct Copy {
    std::string_view id;
    std::vector<WovenLine> lines;  // what stands between the braces
  };
  struct Addition {
    std::size_t before = 0;  // index of a line of the target
    std::vector<WovenLine> lines;
  };

  std::vector<Placed> place(BugFile const& bug, Problems& problems) const;
  void add_outside(BugFile const& bug, Placed const& placed);
  void add_copy(BugFile const& bug, std::vector<Placed> const& placed, Problems& problems);
  std::vector<WovenLine> patched(Function const& function, std::string_view bug,
                                 std::vector<Placed> const& placed) const;
  std::string switch_text(std::size_t function, std::vector<Copy> const& copies) const;

  Target const& target_;
  std::string name_;
  std::map<std::size_t, std::vector<Copy>> copies_;  // by function
  std::vector<Addition> additions_;
};

}  // namespace adamant::bugs
