// The cases of a random search: number `index` of a seed is one scenario, the same for everybody
// who asks about an engine with the same capabilities, so that a case found by one command can be
// named to another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/language/scenario.h"
#include "scenarios/seam/capabilities.h"
#include "scenarios/search/generate/generate.h"

namespace adamant::scenarios {

/// Who is searched: its name in scenarios, and what it can do.
struct SearchEngine {
  std::string name = EngineChoice().name;
  Capabilities capabilities = capabilities_of_simulation();
  /// Options with which its cases do not meet what is known of it: most cases have them.
  std::vector<UsualOption> usual_options = {};
};

/// The first hundred cases grow, so that what fails on everything fails on something small; of an
/// engine outside the process fewer. From this number on all are drawn alike.
std::uint64_t first_full_case(SearchEngine const& engine);

Scenario search_case(std::uint64_t seed, std::uint64_t index,
                     std::optional<std::string> const& bug = {}, SearchEngine const& engine = {});

/// Consecutive cases with the same number share what an engine outside the process learns anew for
/// each shape, type and world (GenerateOptions::scenarios_of_model). Those that grow share nothing.
std::uint64_t search_row(std::uint64_t index, SearchEngine const& engine);

/// One case in 16 runs twice: only there can another digest show. None of an engine that promises
/// as much: there scenarios say what runs again.
bool search_repeats(std::uint64_t index, SearchEngine const& engine = {});

/// Under so many schedules beside its own does a case run: one in 128 under one more, where the
/// engine has schedules. Only there do values show that depend on it.
int search_schedules(std::uint64_t index, SearchEngine const& engine);

}  // namespace adamant::scenarios
