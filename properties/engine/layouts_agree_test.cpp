// Engine and oracle give every element to the same ranks: they have worked that out apart from each
// other, by the same rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "oracle/layout/layout.h"
#include "real/shard/layout.h"

namespace adamant {
namespace {

std::string text_of(std::vector<ParameterSpec> const& specs, Mesh const& mesh, LayoutKind kind) {
  std::string text = "layout " + std::to_string(static_cast<int>(kind)) + ", " +
                     std::to_string(mesh.shards) + " x " + std::to_string(mesh.replicas) +
                     (mesh.cuts_states_across() ? " across:" : ":");
  for (ParameterSpec const& spec : specs) {
    for (std::int64_t const extent : spec.shape) text += " " + std::to_string(extent);
    text += ";";
  }
  return text;
}

/// Does every rank of the engine hold what the oracle says?
bool agree(std::vector<ParameterSpec> const& specs, Mesh const& mesh, LayoutKind kind) {
  oracle::Layout const expected = oracle::lay_out(kind, specs, mesh);
  for (int rank = 0; rank < mesh.rank_count(); ++rank) {
    real::Layout const layout(specs, {.rank = rank, .mesh = mesh}, kind);
    for (int p = 0; p < static_cast<int>(specs.size()); ++p)
      for (TensorKind const of : {TensorKind::parameter, TensorKind::exp_avg}) {
        auto const ranges = expected.ranges(p, rank, of);
        if (ranges.size() != 1 || ranges.front() != layout[p].range(of)) return false;
      }
  }
  return true;
}

void expect_agreement_on_all_meshes(std::vector<ParameterSpec> const& specs) {
  for (LayoutKind const kind : {LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed})
    for (int shards = 1; shards <= 8; ++shards)
      for (int replicas = 1; shards * replicas <= 8; ++replicas)
        for (Outer const outer : {Outer::none, Outer::optim}) {
          if (replicas == 1 && outer == Outer::optim) continue;
          Mesh const mesh{.shards = shards, .replicas = replicas, .outer = outer};
          ASSERT_TRUE(agree(specs, mesh, kind)) << text_of(specs, mesh, kind);
        }
}

/// Calls `visit` with all sets of up to `most` parameters of these rows and row sizes.
void for_each_set(std::size_t most, std::vector<std::int64_t> const& rows,
                  std::vector<std::int64_t> const& row_numels,
                  std::function<void(std::vector<ParameterSpec> const&)> const& visit) {
  std::vector<ParameterSpec> specs;
  std::function<void()> const extend = [&] {
    if (!specs.empty()) visit(specs);
    if (specs.size() == most) return;
    for (std::int64_t const count : rows)
      for (std::int64_t const row : row_numels) {
        specs.push_back({.name = "p", .shape = {count, row}});
        extend();
        specs.pop_back();
      }
  };
  extend();
}

TEST(LayoutsAgree, ForAllSmallSetsOfShapes) {
  for_each_set(2, {0, 1, 2, 3, 4, 5, 6}, {1, 2, 3, 5, 8}, expect_agreement_on_all_meshes);
  for_each_set(4, {1, 4}, {2, 3}, expect_agreement_on_all_meshes);
  for_each_set(4, {0, 5}, {1, 6}, expect_agreement_on_all_meshes);
}

TEST(LayoutsAgree, ForUnitsAndTypes) {
  std::vector<ParameterSpec> specs = {{.name = "a", .shape = {5, 3}},
                                      {.name = "b", .shape = {4, 4}},
                                      {.name = "c", .shape = {7}},
                                      {.name = "d", .shape = {3, 2}, .unit = 1},
                                      {.name = "e", .shape = {6, 5}, .unit = 1}};
  specs[1].formats.parameter = NumberFormat::bf16;
  specs[2].formats.state_scale = StateScale::local;
  specs[3].formats.exp_avg = NumberFormat::fp8;
  expect_agreement_on_all_meshes(specs);
}

}  // namespace
}  // namespace adamant
