// Every small set of shapes, on every small mesh, against what must hold whatever the rule.
//
// Enumerated are all sequences of up to 4 tensors of 1 ... 6 rows of 1 ... 4 elements, or without
// any, packed for 1 ... 8 parts. All meshes of up to 8 ranks, with states cut across and not, are
// given the sequences of up to 2 tensors, of 3 whose rows have 2 or 3 elements, and of 4 whose rows
// have 3.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "oracle/layout/layout.h"
#include "oracle/layout/packing.h"

namespace adamant::oracle {
namespace {

constexpr std::int64_t rows_max = 6;
constexpr int ranks_max = 8;

std::vector<TensorSize> tensors_with_rows_of(std::vector<std::int64_t> const& row_numels) {
  std::vector<TensorSize> tensors{{.numel = 0, .row_numel = 4}};
  for (std::int64_t const row : row_numels)
    for (std::int64_t rows = 1; rows <= rows_max; ++rows)
      tensors.push_back({.numel = rows * row, .row_numel = row});
  return tensors;
}

/// Calls `visit` with each sequence of so many of the choices.
template <typename Visit>
void for_each_sequence(std::vector<TensorSize> const& choices, std::size_t length,
                       Visit const& visit) {
  std::vector<TensorSize> sequence(length);
  std::vector<std::size_t> digits(length);
  while (true) {
    for (std::size_t i = 0; i < length; ++i) sequence[i] = choices[digits[i]];
    visit(std::span<TensorSize const>(sequence));
    std::size_t digit = 0;
    while (digit < length && ++digits[digit] == choices.size()) digits[digit++] = 0;
    if (digit == length) return;
  }
}

template <typename Visit>
void for_each_set(Visit const& visit) {
  for (std::size_t length = 1; length <= 4; ++length)
    for_each_sequence(tensors_with_rows_of({1, 2, 3, 4}), length, visit);
}

std::string text_of(std::span<TensorSize const> tensors, std::int64_t parts) {
  std::string text = std::to_string(parts) + " parts of";
  for (TensorSize const t : tensors)
    text += " " + std::to_string(t.numel) + "/" + std::to_string(t.row_numel);
  return text;
}

/// Tensors with elements, in the order in which they lie.
std::vector<std::size_t> in_order(std::span<TensorSize const> tensors, Packing const& packing) {
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < tensors.size(); ++t)
    if (tensors[t].numel > 0) order.push_back(t);
  std::ranges::sort(order, {}, [&](std::size_t t) { return packing.offsets[t]; });
  return order;
}

/// Does a part begin inside of a row?
bool cuts_a_row(std::span<TensorSize const> tensors, Packing const& packing, std::int64_t parts) {
  for (std::size_t t = 0; t < tensors.size(); ++t)
    for (std::int64_t part = 1; part < parts; ++part) {
      std::int64_t const inside = part * (packing.size / parts) - packing.offsets[t];
      if (inside > 0 && inside < tensors[t].numel && inside % tensors[t].row_numel != 0)
        return true;
    }
  return false;
}

// The last tensor comes first; each begins at the first multiple of 8 that is free, and the buffer
// ends at the first multiple of 8 parts.
bool is_flat(std::span<TensorSize const> tensors, Packing const& packing, std::int64_t parts) {
  std::int64_t end = 0;
  for (std::size_t t = tensors.size(); t-- > 0;) {
    if (tensors[t].numel == 0) continue;
    if (packing.offsets[t] != round_up(end, 8)) return false;
    end = packing.offsets[t] + tensors[t].numel;
  }
  return packing.size == round_up(end, 8 * parts);
}

TEST(FlatPacking, OfEverySmallSetIsAsTightAsItsMultiplesOfEightLet) {
  std::int64_t cutting = 0;  // some part inside of some row
  for_each_set([&](std::span<TensorSize const> tensors) {
    bool cuts = false;
    for (std::int64_t parts = 1; parts <= ranks_max; ++parts) {
      auto const packing = pack_flat(tensors, parts);
      ASSERT_TRUE(packing && is_flat(tensors, *packing, parts)) << text_of(tensors, parts);
      cuts = cuts || cuts_a_row(tensors, *packing, parts);
    }
    cutting += cuts ? 1 : 0;
  });
  EXPECT_EQ(cutting, 201'496);  // of 406,900 sets
}

/// What a packing of `bucketed` must be: tensors lie one behind the other at multiples of their
/// rows, C divides every part, no part is a C larger than it has to be.
testing::AssertionResult holds_whole_rows(std::span<TensorSize const> tensors,
                                          Packing const& packing, std::int64_t parts,
                                          std::int64_t common) {
  std::int64_t end = 0;
  for (std::size_t const t : in_order(tensors, packing)) {
    if (packing.offsets[t] < end) return testing::AssertionFailure() << "overlap";
    if (packing.offsets[t] % tensors[t].row_numel != 0)
      return testing::AssertionFailure() << "begins inside of a row";
    end = packing.offsets[t] + tensors[t].numel;
  }
  if (packing.size != round_up(end, common * parts))
    return testing::AssertionFailure() << "size " << packing.size << " for " << end;
  if (cuts_a_row(tensors, packing, parts)) return testing::AssertionFailure() << "cuts a row";
  return testing::AssertionSuccess();
}

/// Nothing that lies behind all tensors of C and more elements would fit where the space before one
/// of these, or behind the last, ends.
testing::AssertionResult fills_gaps(std::span<TensorSize const> tensors, Packing const& packing,
                                    std::int64_t common) {
  std::vector<ElementRange> gaps;
  std::vector<std::size_t> behind;
  std::int64_t end = 0;
  std::int64_t regular_end = 0;
  auto const order = in_order(tensors, packing);
  for (std::size_t const t : order)
    if (tensors[t].numel >= common)
      regular_end = round_up(packing.offsets[t] + tensors[t].numel, common);
  for (std::size_t const t : order) {
    if (packing.offsets[t] >= regular_end) {
      behind.push_back(t);
      continue;
    }
    if (tensors[t].numel >= common) gaps.push_back({end, packing.offsets[t]});
    end = packing.offsets[t] + tensors[t].numel;
  }
  gaps.push_back({end, regular_end});
  for (std::size_t const t : behind)
    for (ElementRange const gap : gaps)
      if (round_up(gap.begin, tensors[t].row_numel) + tensors[t].numel <= gap.end)
        return testing::AssertionFailure() << "tensor " << t << " fits at " << gap.begin;
  return testing::AssertionSuccess();
}

TEST(BucketedPacking, OfEverySmallSetCutsNoRowAndFillsItsGaps) {
  for_each_set([&](std::span<TensorSize const> tensors) {
    std::int64_t common = 1;
    for (TensorSize const t : tensors)
      if (t.numel > 0) common = std::lcm(common, t.row_numel);
    for (std::int64_t parts = 1; parts <= ranks_max; ++parts) {
      auto const packing = pack_bucketed(tensors, parts);
      ASSERT_TRUE(packing.has_value()) << text_of(tensors, parts);
      ASSERT_TRUE(holds_whole_rows(tensors, *packing, parts, common)) << text_of(tensors, parts);
      ASSERT_TRUE(fills_gaps(tensors, *packing, common)) << text_of(tensors, parts);
    }
  });
}

// ---- who holds what -----------------------------------------------------------------------------

std::vector<Mesh> small_meshes() {
  std::vector<Mesh> meshes;
  for (int shards = 1; shards <= ranks_max; ++shards)
    for (int replicas = 1; shards * replicas <= ranks_max; ++replicas)
      for (Outer const outer : {Outer::none, Outer::optim})
        meshes.push_back({.shards = shards, .replicas = replicas, .outer = outer});
  return meshes;
}

/// The ranks that together hold one copy of everything, in the order in which their parts lie: by
/// shard, and across replicas within one.
std::vector<int> owners_in_order(Mesh const& mesh, TensorKind kind) {
  bool const across = kind != TensorKind::parameter && mesh.cuts_states_across();
  std::vector<int> ranks;
  for (int shard = 0; shard < mesh.shards; ++shard)
    for (int replica = 0; replica < (across ? mesh.replicas : 1); ++replica)
      ranks.push_back(replica * mesh.shards + shard);
  return ranks;
}

/// Every element once, in order; no row is cut unless it may be; where states are not cut across,
/// or of parameters, replicas hold what the first one holds.
testing::AssertionResult is_shared_out(Layout const& layout, int parameter,
                                       ParameterSpec const& spec, bool may_cut_rows) {
  Mesh const& mesh = layout.mesh();
  for (TensorKind const kind : all_tensor_kinds) {
    std::int64_t next = 0;
    for (int const rank : owners_in_order(mesh, kind)) {
      auto const ranges = layout.ranges(parameter, rank, kind);
      if (ranges.size() != 1) return testing::AssertionFailure() << "not one range";
      if (ranges[0].numel() > 0 && ranges[0].begin != next)
        return testing::AssertionFailure() << "rank " << rank << " begins at " << ranges[0].begin;
      next = std::max(next, ranges[0].end);
      if (!may_cut_rows && ranges[0].numel() % spec.row_numel() != 0)
        return testing::AssertionFailure() << "rank " << rank << " cuts a row";
    }
    if (next != spec.numel()) return testing::AssertionFailure() << "ends at " << next;
    if (kind != TensorKind::parameter && mesh.cuts_states_across()) continue;
    for (int rank = mesh.shards; rank < mesh.rank_count(); ++rank)
      if (layout.ranges(parameter, rank, kind)[0] !=
          layout.ranges(parameter, mesh.shard_of(rank), kind)[0])
        return testing::AssertionFailure() << "replicas differ";
  }
  return testing::AssertionSuccess();
}

/// A rank steps what it holds: its states are of elements of which it has the parameters.
bool states_are_of_own_parameters(Layout const& layout, int parameter) {
  for (int rank = 0; rank < layout.mesh().rank_count(); ++rank) {
    ElementRange const states = layout.ranges(parameter, rank, TensorKind::exp_avg)[0];
    ElementRange const own = layout.ranges(parameter, rank, TensorKind::parameter)[0];
    if (states.numel() > 0 && (states.begin < own.begin || states.end > own.end)) return false;
  }
  return true;
}

void expect_shared_out(LayoutKind kind, std::span<TensorSize const> tensors, Mesh const& mesh) {
  std::vector<ParameterSpec> parameters;
  for (TensorSize const t : tensors)
    parameters.push_back({.name = "w", .shape = {t.numel / t.row_numel, t.row_numel}});
  Layout const layout = lay_out(kind, parameters, mesh);
  for (int p = 0; p < std::ssize(parameters); ++p) {
    auto const& spec = parameters[static_cast<std::size_t>(p)];
    ASSERT_TRUE(is_shared_out(layout, p, spec, kind == LayoutKind::flat))
        << text_of(tensors, mesh.shards) << ", " << mesh.replicas << " replicas, parameter " << p;
    ASSERT_TRUE(states_are_of_own_parameters(layout, p))
        << text_of(tensors, mesh.shards) << ", " << mesh.replicas << " replicas, parameter " << p;
  }
}

class EverySmallSet : public testing::TestWithParam<LayoutKind> {};

TEST_P(EverySmallSet, IsSharedOutWholeOnEveryMesh) {
  auto const meshes = small_meshes();
  auto const visit = [&](std::span<TensorSize const> tensors) {
    for (Mesh const& mesh : meshes) expect_shared_out(GetParam(), tensors, mesh);
  };
  for (std::size_t length = 1; length <= 2; ++length)
    for_each_sequence(tensors_with_rows_of({1, 2, 3, 4}), length, visit);
  for_each_sequence(tensors_with_rows_of({2, 3}), 3, visit);
  for_each_sequence(tensors_with_rows_of({3}), 4, visit);
}

INSTANTIATE_TEST_SUITE_P(Layouts, EverySmallSet,
                         testing::Values(LayoutKind::fsdp2, LayoutKind::flat,
                                         LayoutKind::bucketed));

}  // namespace
}  // namespace adamant::oracle
