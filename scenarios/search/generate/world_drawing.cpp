// Ranks, layouts, parameters, their other names and their parts.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/search/generate/drawing.h"

namespace adamant::scenarios {

namespace {

constexpr std::array prime_rows{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 61, 97};
constexpr std::int64_t vectors_max = 72;  // elements: over four vectors of 16 floats

std::int64_t most_ranks(Drawing const& model) {
  std::int64_t const most =
      std::min(model.scaled(1, model.options().ranks_max), model.able().ranks_max);
  return model.allowed(Feature::more_than_four_ranks) ? most : std::min<std::int64_t>(most, 4);
}

std::int64_t draw_ranks(Drawing& model) {
  Profile const& profile = model.profile();
  bool const more = model.chance(profile.more_ranks);
  std::int64_t const ranks = more ? model.between(5, 8) : model.one_of_or_any(profile.ranks, 8);
  return std::min(ranks, most_ranks(model));
}

/// Some have three ranks in a shard group: two averages round otherwise than one there. Most have
/// two replicas, for each more costs as many ranks as a group has.
World draw_small_mesh(Drawing& model, std::int64_t ranks_max, std::int64_t replicas_max) {
  constexpr std::array replicas{2, 2, 2, 2, 2, 2, 3, 4};
  constexpr std::array shards{1, 1, 2, 2, 2, 3};
  World world;
  world.replicate = std::min<std::int64_t>(model.one_of(replicas), replicas_max);
  world.shard = std::min<std::int64_t>(model.one_of(shards), ranks_max / world.replicate);
  return world;
}

/// Any layout of the engine; the usual one about as often as the others together.
Layout draw_layout(Drawing& model) {
  bool const flat = model.feature(Feature::layout_flat, 25);
  bool const bucketed = model.feature(Feature::layout_bucketed, 33);
  if (flat) return Layout::flat;
  return bucketed ? Layout::bucketed : model.able().layouts.front();
}

std::string name_of_param(std::int64_t index, bool in_units) {
  static constexpr std::array<char const*, 2> parts{".w", ".b"};
  if (!in_units) return std::string("p").append(std::to_string(index));  // "p" + …: g++ 12 warns
  std::string name = "layers." + std::to_string(index / 2);
  return name + parts[static_cast<std::size_t>(index % 2)];
}

/// Around the numbers of ranks, where shards are uneven or empty.
std::int64_t draw_few_rows(Drawing& model) {
  bool const prime = model.chance(30);
  std::int64_t const rows = model.between(1, 6);
  return std::min<std::int64_t>(prime ? model.between(0, 2) * 4 + 3 : rows, model.scaled(1, 11));
}

std::int64_t draw_rows(Drawing& model) {
  if (model.profile().few_rows) return draw_few_rows(model);
  std::int64_t const kind = model.below(10);
  std::int64_t rows = model.between(1, 9);
  if (kind >= 4) rows = model.one_of(prime_rows);
  if (kind >= 8) rows = model.between(64, 300);
  return std::min(rows, model.scaled(1, 300));
}

std::vector<std::int64_t> draw_shape(Drawing& model) {
  Profile const& profile = model.profile();
  std::int64_t const dimensions = model.one_of_or_any(profile.dimensions, 3);
  std::vector<std::int64_t> shape{draw_rows(model)};
  std::int64_t const largest = dimensions == 2 ? profile.extent_of_matrix : profile.extent;
  for (std::int64_t d = 1; d < dimensions; ++d)
    shape.push_back(model.between(1, model.scaled(1, largest)));
  bool const fills_vectors = profile.filled_vectors > 0 && model.chance(profile.filled_vectors);
  if (fills_vectors) shape.back() = model.between(1, model.scaled(1, vectors_max));
  if (model.feature(Feature::empty_tensor, 8))
    shape[static_cast<std::size_t>(model.below(dimensions))] = 0;
  return shape;
}

void draw_params(Drawing& model, Scenario& scenario) {
  Profile const& profile = model.profile();
  std::int64_t const params_max =
      model.allowed(Feature::several_params) ? model.scaled(1, model.options().params_max) : 1;
  std::int64_t const count = model.one_of_or_any(profile.params, params_max);
  bool const in_units = model.feature(Feature::several_units, 60);
  bool const alike = profile.alike_params > 0 && model.chance(profile.alike_params);
  for (std::int64_t i = 0; i < count; ++i) {
    Param param{.name = name_of_param(i, in_units), .shape = draw_shape(model)};
    if (alike && i > 0) param.shape = scenario.params.front().shape;
    scenario.params.push_back(std::move(param));
  }
}

}  // namespace

void draw_world(Drawing& model, Scenario& scenario) {
  scenario.world = model.profile().small_meshes
                       ? draw_small_world(model)
                       : draw_mesh(model, draw_ranks(model), Feature::replicated);
  scenario.layout = draw_layout(model);
  draw_params(model, scenario);
}

World draw_mesh(Drawing& model, std::int64_t ranks, Feature why) {
  bool const replicates = model.feature(why, 30) && model.allowed(Feature::replicated);
  std::int64_t const replicas = model.between(2, 4);
  bool const shares_out = model.chance(50) && model.allowed(Feature::outer_optim);
  if (!replicates || ranks < 2) return {.shard = ranks};
  World world{.shard = std::max<std::int64_t>(ranks / replicas, 1)};
  world.replicate = ranks / world.shard;
  if (shares_out) world.outer = Outer::optim;
  return world;
}

World draw_small_world(Drawing& model) {
  bool const replicates = model.feature(Feature::replicated, 15);
  World world{.shard = draw_ranks(model)};
  std::int64_t const most = most_ranks(model);
  std::int64_t const replicas_max = std::min(model.able().replicate_max, most);
  if (replicates && replicas_max > 1) world = draw_small_mesh(model, most, replicas_max);
  bool const shares_out = model.chance(50) && model.allowed(Feature::outer_optim);
  if (shares_out && world.replicate > 1) world.outer = Outer::optim;
  return world;
}

void draw_ties(Drawing& draws, Scenario& scenario) {
  bool const ties = draws.feature(Feature::tied, 7) && draws.allowed(Feature::several_params);
  std::int64_t const count = draws.chance(20) ? 2 : 1;
  if (!ties || draws.options().size < 20) return;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t const size = std::ssize(scenario.params);
    std::int64_t const target = draws.below(size);
    std::int64_t const place = draws.between(target + 1, size);
    if (scenario.params[static_cast<std::size_t>(target)].is_tied()) continue;
    Param param{.name = "tied" + std::to_string(i),
                .tied = scenario.params[static_cast<std::size_t>(target)].name};
    scenario.params.insert(scenario.params.begin() + place, std::move(param));
  }
}

void draw_parts(Drawing& draws, Scenario& scenario) {
  bool const cuts = draws.feature(Feature::parts, 12);
  std::size_t const count = draws.chance(30) ? 3 : 2;
  if (!cuts) return;
  static constexpr std::array names{"q", "k", "v"};
  for (Param& param : scenario.params) {
    if (param.is_tied() || param.shape.front() % static_cast<std::int64_t>(count) != 0) continue;
    param.parts.assign(names.begin(), names.begin() + count);
    if (draws.chance(60)) return;
  }
}

}  // namespace adamant::scenarios
