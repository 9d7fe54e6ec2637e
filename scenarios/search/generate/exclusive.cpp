#include "scenarios/search/generate/exclusive.h"

#include <algorithm>
#include <array>

namespace adamant::scenarios {

namespace {

struct Pair {
  Feature a;
  Feature b;
  std::string_view why;
};

constexpr std::array exclusive_pairs{
    Pair{Feature::one_rank, Feature::more_than_four_ranks, "one rank is not five"},
    Pair{Feature::one_rank, Feature::replicated, "one rank is alone"},
    Pair{Feature::one_rank, Feature::outer_optim, "one rank is alone"},
    Pair{Feature::layout_flat, Feature::layout_bucketed, "a scenario begins in one layout"},
    Pair{Feature::one_rank, Feature::empty_shard, "one rank has every row"},
    Pair{Feature::one_rank, Feature::ragged_end, "one rank has every row"},
    Pair{Feature::one_rank, Feature::cut_block, "one rank has every row"},
    Pair{Feature::one_rank, Feature::idle_rank, "there is at least one microbatch"},
    Pair{Feature::idle_rank, Feature::several_microbatches,
         "there are fewer microbatches than ranks, or more"},
    Pair{Feature::gradients_normal, Feature::gradients_wild, "gradients are of one class"},
    Pair{Feature::schedule_random, Feature::schedule_pct, "a schedule has one strategy"},
    Pair{Feature::crash, Feature::damage, "one thing goes wrong in a scenario"},
    Pair{Feature::crash, Feature::out_of_memory, "one thing goes wrong in a scenario"},
    Pair{Feature::damage, Feature::out_of_memory, "one thing goes wrong in a scenario"},
};

bool is_of_states_offload(Feature feature) {
  return feature == Feature::offload_states || feature == Feature::explicit_offload;
}

bool is_of_hybrid(Feature feature) {
  return feature >= Feature::hybrid && feature <= Feature::hybrid_pageable;
}

bool is_of_graphs(Feature feature) {
  return feature == Feature::capturable || feature == Feature::capture ||
         feature == Feature::replay;
}

/// Why features of two kinds exclude each other, whichever features of these kinds they are.
std::string_view why_kinds_exclude(Feature a, Feature b) {
  if (is_of_states_offload(a) && is_of_hybrid(b)) return "two offloads are refused together";
  if (!is_of_graphs(a)) return {};
  if (is_of_states_offload(b) || is_of_hybrid(b) || b == Feature::load_with_other_offload)
    return "a capturable engine offloads nothing";
  if (b == Feature::loss_scale_rounds) return "only exact values can be judged after a replay";
  return {};
}

}  // namespace

std::string_view why_exclusive(Feature a, Feature b) {
  auto const pair = std::find_if(exclusive_pairs.begin(), exclusive_pairs.end(), [&](Pair known) {
    return (known.a == a && known.b == b) || (known.a == b && known.b == a);
  });
  if (pair != exclusive_pairs.end()) return pair->why;
  std::string_view const why = why_kinds_exclude(a, b);
  return why.empty() ? why_kinds_exclude(b, a) : why;
}

}  // namespace adamant::scenarios
