// How scenarios are drawn, as data: one value for worlds that are simulated, one for small worlds
// outside the process, of which every rank, parameter, shape and operation takes time. Who draws
// asks for these numbers, and never which engine it draws for.
#pragma once

#include <cstdint>
#include <span>

#include "scenarios/seam/capabilities.h"

namespace adamant::scenarios {

/// What is given in percent, and is 0, is not even drawn.
struct Profile {
  // ---- a search (scenarios/search/search.h) ----
  int growth = 1;                        // so much larger is each case, until they have full size
  std::uint64_t scenarios_of_model = 1;  // GenerateOptions, as the next two
  std::int64_t params_max = 6;
  std::int64_t operations_max = 13;
  int further_schedules = 1;  // of one case in 128

  // ---- worlds ----
  bool small_meshes = false;  // replicas are drawn by themselves, and not from the number of ranks
  std::span<std::int64_t const> ranks = {};  // each as likely as any other
  int more_ranks = 0;                        // percent have five to eight

  // ---- parameters ----
  std::span<std::int64_t const> params = {};      // how many; none: any number
  std::span<std::int64_t const> dimensions = {};  // likewise
  std::int64_t extent_of_matrix = 12;             // at most, but for rows
  std::int64_t extent = 5;                        // likewise, of tensors with more dimensions
  bool few_rows = false;                          // around the numbers of ranks
  int alike_params = 0;    // percent: what takes one for another shows where shapes are the same
  int filled_vectors = 0;  // percent: CPUs take what fills their vectors in another way

  // ---- number formats ----
  bool whole_recipes = false;  // one that is offered, before the program; else each type by itself

  // ---- programs ----
  int saves = 11;                   // percent
  bool around_checkpoints = false;  // what a load brings back is stepped with
  bool rare = true;                 // what few scenarios have, and that costs much

  // ---- what goes wrong on purpose ----
  int crashes = 40;                     // percent
  int damages = 60;                     // likewise
  bool crashes_by_operations = false;   // of a rank on files; else by bytes that it writes
  std::int64_t damaged_files = 10;      // which of them is damaged
  std::int64_t damaged_when_stale = 2;  // the manifest and the first rank's: others' may be as they
                                        // were
};

Profile const& profile_of(Capabilities const& engine);

}  // namespace adamant::scenarios
