// Defects that are known of an engine, as a file names them: what causes each, how a scenario keeps
// from meeting it, and scenarios that show it. Which of them an engine has is search/known_here.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"

namespace adamant::scenarios {

struct KnownDefect {
  std::string name;
  std::string cause;
  std::string effect = {};  // for people, on the page of the engine's defects
  std::string versions;     // in which it was seen
  std::string thread;       // where the public can read of it; empty: nowhere
  /// Options of the engine with which no scenario meets it; none: there is no way around it.
  EngineOptions avoid;
  bool seldom_met = false;  // by scenarios without `avoid`
  std::vector<Scenario> shown_by;
  std::vector<std::filesystem::path> files;  // of these
};

/// The defects of a file, in its order:
///
///     known:
///       - name: step_made_by_a_save
///         cause: A save before the first step makes the state by a step.
///         effect: The first step is corrected as the second.
///         versions: 2.13.0
///         thread: https://github.com/pytorch/pytorch/issues/164929
///         avoid: {missing_states: made}
///         met: often
///         shown_by: [state_dict_before_first_step.yaml]
///
/// `thread` may be `none`, `met` is `often` or `seldom`, and `effect`, `avoid` and `met` may be
/// left out. Files of `shown_by` lie beside the file.
///
/// Errors: LoadError, of this file or of a scenario.
std::vector<KnownDefect> read_known_defects(std::filesystem::path const& file);

/// The scenario with these options of its engine in the place of its own of the same names.
Scenario with_options(Scenario scenario, EngineOptions const& options);

/// Was the defect seen in one of an engine's versions, "python 3.11.2, torch 2.13.0+cpu"? Of
/// "1.15.0 with PyTorch 2.13.0, 1.16.0" in the first two together, or in the last.
bool is_of_versions(KnownDefect const& defect, std::string const& versions);

/// Does the scenario say all of these options already?
bool has_options(Scenario const& scenario, EngineOptions const& options);

/// Does `scenario` have all kinds of faults that `smaller` has?
bool has_faults(Scenario const& scenario, Scenario const& smaller);

/// Does it have its saves and loads as well, in their order among others in one of its runs?
bool has_files_inside(Scenario const& scenario, Scenario const& smaller);

/// Does `scenario` do all that `smaller` does in one of its runs, further ones among them: its
/// operations in their order among others, its faults and its options of the engine?
bool does_all_of(Scenario const& scenario, Scenario const& smaller);

/// The same in some world on no fewer ranks, and at some time in narrow types where `smaller` has
/// some.
bool has_inside(Scenario const& scenario, Scenario const& smaller);

/// Does it choose a defect by the options of the engine that `shows` needs, and that `avoid` has
/// otherwise? No more is then inside than its narrow types, its faults and operations on files.
bool chooses(Scenario const& scenario, Scenario const& shows, EngineOptions const& avoid);

/// `smaller` in the types that `scenario` has at some time, with its own loss scale or that of
/// `scenario`, and in the world of that where it has fewer ranks. Types and scales in which a
/// defect was met are no part of its cause where it shows in others, too. Without `smaller` itself,
/// and expecting to pass.
std::vector<Scenario> put_into(Scenario const& scenario, Scenario const& smaller);

}  // namespace adamant::scenarios
