// Fewer ranks, microbatches, rows and dimensions. Sizes are tried from the smallest up, together
// before one by one: a ragged shard on 4 ranks is still ragged on 2, but with other rows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "scenarios/search/minimize/passes.h"

namespace adamant::scenarios::passes_of {

namespace {

constexpr std::array<std::int64_t, 16> usual_rows{1, 2,  3,  4,  5,  6,  7,  8,
                                                  9, 12, 16, 17, 32, 33, 64, 65};
constexpr std::array<std::int64_t, 5> small_rows{1, 2, 3, 4, 5};
constexpr std::array<std::int64_t, 3> small_worlds{1, 2, 3};
constexpr std::int64_t matrix_numel_max = 17;
constexpr std::int64_t small_matrix_numel_max = 5;

/// The usual sizes below `size`, and steps down from it.
std::vector<std::int64_t> below(std::int64_t size) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t const usual : usual_rows)
    if (usual < size) sizes.push_back(usual);
  for (std::int64_t const step : {size / 2, size - size / 4, size - 1})
    if (step > usual_rows.back() && step < size) sizes.push_back(step);
  return sizes;
}

/// Matrices of fewer elements, the smallest first, and of as many those of fewer rows.
std::vector<std::vector<std::int64_t>> matrices_below(std::int64_t numel) {
  std::vector<std::vector<std::int64_t>> shapes;
  for (std::int64_t all = 1; all < numel; ++all)
    for (std::int64_t rows = 1; rows <= all; ++rows)
      if (all % rows == 0) shapes.push_back({rows, all / rows});
  return shapes;
}

void set_worlds(Scenario& scenario, std::int64_t ranks_max) {
  auto const limit = [&](World& world) {
    world.replicate = std::min(world.replicate, ranks_max);
    world.shard = std::min(world.shard, std::max<std::int64_t>(1, ranks_max / world.replicate));
    if (world.replicate == 1) world.outer = Outer::none;
  };
  limit(scenario.world);
  for (Operation& operation : scenario.program) {
    auto* const load = std::get_if<Load>(&operation.action);
    if (load != nullptr && load->world) limit(*load->world);
  }
}

void set_shapes(Scenario& scenario, std::vector<std::int64_t> const& shape) {
  for (Param& param : scenario.params) param.shape = shape;
}

/// Fewer ranks, each with as many rows as before.
void keep_rows_of_rank(Scenario& scenario, std::int64_t ranks) {
  std::int64_t const before = scenario.world.shard;
  set_worlds(scenario, ranks);
  for (Param& param : scenario.params) {
    if (param.shape.empty()) continue;
    std::int64_t const rows = (param.shape.front() + before - 1) / before;
    param.shape.front() = std::min(param.shape.front(), rows * scenario.world.shard);
  }
}

std::int64_t largest_numel(Scenario const& scenario) {
  std::int64_t largest = 0;
  for (Param const& param : scenario.params) {
    std::int64_t numel = 1;
    for (std::int64_t const extent : param.shape) numel *= extent;
    largest = std::max(largest, numel);
  }
  return largest;
}

void shrink_shape(std::size_t param, std::vector<std::int64_t> const& shape,
                  Candidates& candidates) {
  std::int64_t numel = 1;
  for (std::int64_t const extent : shape) numel *= extent;
  for (std::int64_t const rows : below(std::max<std::int64_t>(numel, 9)))
    candidates.offer([&](Scenario& s) { s.params[param].shape = {rows}; });
  if (shape.size() > 1) {
    candidates.offer([&](Scenario& s) { s.params[param].shape = {numel}; });
    candidates.offer([&](Scenario& s) { s.params[param].shape.pop_back(); });
    for (auto const& matrix : matrices_below(std::min(numel, matrix_numel_max)))
      candidates.offer([&](Scenario& s) { s.params[param].shape = matrix; });
  }
  for (std::size_t d = 0; d < shape.size(); ++d)
    for (std::int64_t const extent : below(shape[d]))
      candidates.offer([&](Scenario& s) { s.params[param].shape[d] = extent; });
}

using Changes = std::vector<std::function<void(Scenario&)>>;

void add_dropped_operations(Scenario const& scenario, Changes& changes) {
  if (scenario.program.size() < 2) return;
  for (std::size_t i = 0; i < scenario.program.size(); ++i)
    changes.push_back(
        [i](Scenario& s) { s.program.erase(s.program.begin() + static_cast<std::ptrdiff_t>(i)); });
}

Changes changes_of_values(Scenario const& scenario) {
  Changes changes{[](Scenario& s) { s.optimizer = {}; },
                  [](Scenario& s) { s.gradients = GradientClass::exact; },
                  [](Scenario& s) { s.gradients = GradientClass::normal; }};
  add_dropped_operations(scenario, changes);
  for (std::size_t p = 0; p < scenario.params.size(); ++p) {
    for (std::int64_t const rows : small_rows)
      changes.push_back([p, rows](Scenario& s) { s.params[p].shape = {rows}; });
    if (scenario.params[p].shape.size() < 2) continue;
    for (auto const& matrix : matrices_below(small_matrix_numel_max))
      changes.push_back([p, matrix](Scenario& s) { s.params[p].shape = matrix; });
  }
  return changes;
}

Changes changes_of_order(Scenario const& scenario) {
  Changes changes;
  for (std::int64_t const ranks : small_worlds) {
    for (std::int64_t const rows : {1, 2, 3}) {
      changes.push_back([ranks, rows](Scenario& s) {
        set_worlds(s, ranks);
        set_shapes(s, {rows});
        s.microbatches.reset();
      });
    }
  }
  add_dropped_operations(scenario, changes);
  return changes;
}

}  // namespace

/// The boldest cuts of sizes: large models become small ones at once.
void shrink_everything(Scenario const& scenario, Candidates& candidates) {
  for (std::int64_t const ranks : small_worlds) {
    for (std::int64_t const rows : small_rows) {
      candidates.offer([&](Scenario& s) {
        set_worlds(s, ranks);
        set_shapes(s, {rows});
        s.microbatches.reset();
      });
    }
  }
  for (std::int64_t const rows : below(largest_numel(scenario)))
    candidates.offer([&](Scenario& s) { set_shapes(s, {rows}); });
}

void shrink_world(Scenario const& scenario, Candidates& candidates) {
  for (std::int64_t const ranks : below(weight_of(scenario)[Digit::ranks])) {
    candidates.offer([&](Scenario& s) { set_worlds(s, ranks); });
    candidates.offer([&](Scenario& s) {
      set_worlds(s, ranks);
      s.microbatches.reset();
    });
    candidates.offer([&](Scenario& s) {
      set_worlds(s, ranks);
      s.microbatches = scenario.microbatch_count();
    });
    for (std::int64_t const microbatches : small_rows) {
      candidates.offer([&](Scenario& s) {
        set_worlds(s, ranks);
        s.microbatches = microbatches;
      });
    }
    candidates.offer([&](Scenario& s) { s.world = {.shard = ranks, .replicate = 1}; });
    candidates.offer([&](Scenario& s) { keep_rows_of_rank(s, ranks); });
    for (std::int64_t const rows : small_rows) {
      candidates.offer([&](Scenario& s) {
        set_worlds(s, ranks);
        set_shapes(s, {rows});
      });
    }
  }
}

void shrink_microbatches(Scenario const& scenario, Candidates& candidates) {
  if (!scenario.microbatches) return;
  candidates.offer([](Scenario& s) { s.microbatches.reset(); });
  for (std::int64_t const fewer : below(*scenario.microbatches))
    candidates.offer([&](Scenario& s) { s.microbatches = fewer; });
}

void shrink_shapes(Scenario const& scenario, Candidates& candidates) {
  for (std::size_t p = 0; p < scenario.params.size(); ++p)
    if (!scenario.params[p].is_tied()) shrink_shape(p, scenario.params[p].shape, candidates);
}

/// Less of a scenario may need other values, or another order of events, to show what is wrong.
void shrink_with_other_seed(Scenario const& scenario, Candidates& candidates) {
  for (std::uint64_t seed = 0; seed < small_seeds; ++seed) {
    for (auto const& change : changes_of_values(scenario)) {
      candidates.offer([&](Scenario& s) {
        change(s);
        s.seed = seed;
      });
    }
  }
  bool const is_drawn =
      scenario.schedule.strategy != Schedule::Strategy::fifo && !scenario.schedule.choices;
  if (!is_drawn) return;
  for (std::uint64_t seed = 0; seed < small_seeds; ++seed) {
    for (auto const& change : changes_of_order(scenario)) {
      candidates.offer([&](Scenario& s) {
        change(s);
        s.schedule = {.strategy = Schedule::Strategy::random, .seed = seed};
      });
    }
  }
}

}  // namespace adamant::scenarios::passes_of
