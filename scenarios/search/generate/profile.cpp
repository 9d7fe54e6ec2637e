#include "scenarios/search/generate/profile.h"

#include <array>

namespace adamant::scenarios {

namespace {

constexpr std::array<std::int64_t, 10> ranks_of_simulation{1, 2, 2, 3, 3, 4, 4, 4, 4, 4};

// Files cost three times what others do, so few programs save.
constexpr Profile of_simulation{.ranks = ranks_of_simulation, .more_ranks = 26};

constexpr std::array<std::int64_t, 9> few_ranks{1, 1, 2, 2, 2, 2, 3, 3, 4};
// Each takes time, and few defects need more than two.
constexpr std::array<std::int64_t, 6> few_params{1, 1, 2, 2, 3, 4};
// Each shape that is new may cost more than the step itself.
constexpr std::array<std::int64_t, 8> few_dimensions{1, 1, 1, 2, 2, 2, 2, 3};
// The number of files divides it, so that each is as likely as any other.
constexpr std::int64_t files_alike = 840;

// In the time that small cases take, larger ones find more. Checkpoints cost no more than other
// operations. Few cases have a save to fall back to, but after a crash all processes begin anew.
constexpr Profile of_small_worlds{.growth = 4,
                                  .scenarios_of_model = 16,
                                  .params_max = 4,
                                  .operations_max = 7,
                                  .further_schedules = 0,
                                  .small_meshes = true,
                                  .ranks = few_ranks,
                                  .more_ranks = 2,
                                  .params = few_params,
                                  .dimensions = few_dimensions,
                                  .extent_of_matrix = 4,
                                  .extent = 4,
                                  .few_rows = true,
                                  .alike_params = 50,
                                  .filled_vectors = 20,
                                  .whole_recipes = true,
                                  .saves = 55,
                                  .around_checkpoints = true,
                                  .rare = false,
                                  .crashes = 30,
                                  .damages = 45,
                                  .crashes_by_operations = true,
                                  .damaged_files = files_alike,
                                  .damaged_when_stale = files_alike};

}  // namespace

Profile const& profile_of(Capabilities const& engine) {
  return engine.isolated ? of_small_worlds : of_simulation;
}

}  // namespace adamant::scenarios
