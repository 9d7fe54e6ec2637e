// The import lines of a script: what its parts ask for, once each, in the order that `ruff` sorts
// them into.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::python {

/// What the exit status of a script says, for its head.
inline constexpr std::string_view exit_statuses =
    "Exit status 1: the defect shows, 0: it does not, 2: something else failed.";

class Imports {
 public:
  /// Modules of the standard library: each on a line, or all on one.
  enum class Lines { each, one };

  /// `import module`
  void add(std::string_view module) { plain_.emplace(module); }
  /// `import module as name`
  void add_as(std::string_view module, std::string_view name);
  /// `from module import name`
  void add_from(std::string_view module, std::string_view name);

  /// The standard library first, then PyTorch. Before that is a hook by which all that nobody
  /// expects ends the script with 2, a package that is missing, too.
  void write(Code& code, Lines lines = Lines::each) const;

 private:
  void write_modules(Code& code, bool of_torch, Lines lines) const;
  void write_names(Code& code, bool of_torch) const;

  std::set<std::string> plain_;
  std::map<std::string, std::set<std::string>> named_;
};

}  // namespace adamant::scenarios::python
