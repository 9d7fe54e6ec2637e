#include "scenarios/judge/rank_classes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "oracle/layout/buckets.h"

namespace adamant::scenarios {

namespace {

/// Looks at what ranks hold, without making a table of all of them.
class Looks {
 public:
  Looks(LayoutKind layout, std::span<ParameterSpec const> parameters, Mesh const& mesh,
        std::function<void()> const& looked)
      : parameters_(parameters),
        mesh_(mesh),
        looked_(looked),
        buckets_(oracle::buckets_of(layout, parameters, mesh)) {}

  Held held_by(int shard, int replica, TensorKind kind) const {
    looked_();
    Held held(parameters_.size());
    int const rank = replica * mesh_.shards + shard;
    for (oracle::Bucket const& bucket : buckets_) {
      ElementRange const part = oracle::part_of(bucket, mesh_, rank, kind);
      for (oracle::Placed const placed : bucket.parameters) {
        auto const at = static_cast<std::size_t>(placed.parameter);
        held[at] = oracle::elements_in(part, placed.offset, parameters_[at].numel());
      }
    }
    return held;
  }

  /// All that a rank's bytes follow from: how much it has of each parameter and its states, and
  /// where the latter lie in its part of a bucket.
  std::vector<std::int64_t> sizes_of(int shard, int replica) const {
    looked_();
    std::vector<std::int64_t> sizes;
    int const rank = replica * mesh_.shards + shard;
    for (oracle::Bucket const& bucket : buckets_) {
      sizes.push_back(oracle::state_room(bucket, mesh_, rank));
      for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg}) {
        ElementRange const part = oracle::part_of(bucket, mesh_, rank, kind);
        for (oracle::Placed const placed : bucket.parameters) {
          auto const& parameter = parameters_[static_cast<std::size_t>(placed.parameter)];
          ElementRange const own = oracle::elements_in(part, placed.offset, parameter.numel());
          sizes.push_back(own.numel());
          sizes.push_back(own.numel() > 0 ? placed.offset + own.begin - part.begin : 0);
        }
      }
    }
    return sizes;
  }

 private:
  std::span<ParameterSpec const> parameters_;
  Mesh mesh_;
  std::function<void()> const& looked_;
  std::vector<oracle::Bucket> buckets_;
};

/// Of three parts in ascending order. Two alone would not do: the first and the last part of a
/// tensor may be as short as each other.
bool alike(Held const& low, Held const& middle, Held const& high) {
  for (std::size_t p = 0; p < low.size(); ++p) {
    std::int64_t const numel = low[p].numel();
    if (middle[p].numel() != numel || high[p].numel() != numel) return false;
    if (numel == 0 && low[p].begin != high[p].begin) return false;  // it may lie between them
  }
  return true;
}

void add_equal_runs(Numbers parts, std::function<Held(int part)> const& held_by,
                    std::vector<Numbers>& runs) {
  int const middle = parts.first + (parts.last - parts.first) / 2;
  bool const whole = parts.first == parts.last ||
                     (parts.last - parts.first >= 2 &&
                      alike(held_by(parts.first), held_by(middle), held_by(parts.last)));
  if (whole) return runs.push_back(parts);
  add_equal_runs({parts.first, middle}, held_by, runs);
  add_equal_runs({middle + 1, parts.last}, held_by, runs);
}

/// Joins neighbours along `along` that agree in the other direction.
void join(std::vector<RankBlock>& blocks, Numbers RankBlock::*along, Numbers RankBlock::*other) {
  std::sort(blocks.begin(), blocks.end(), [&](RankBlock const& a, RankBlock const& b) {
    return std::tie(a.*other, a.*along) < std::tie(b.*other, b.*along);
  });
  std::vector<RankBlock> joined;
  for (RankBlock const& block : blocks) {
    bool const beside = !joined.empty() && joined.back().*other == block.*other &&
                        (joined.back().*along).last + 1 == (block.*along).first;
    if (beside)
      (joined.back().*along).last = (block.*along).last;
    else
      joined.push_back(block);
  }
  blocks = std::move(joined);
}

}  // namespace

std::vector<Numbers> equal_runs(int count, std::function<Held(int part)> const& held_by) {
  std::vector<Numbers> runs;
  add_equal_runs({0, count - 1}, held_by, runs);
  return runs;
}

std::vector<RankBlock> joined(std::vector<RankBlock> blocks) {
  join(blocks, &RankBlock::shards, &RankBlock::replicas);
  join(blocks, &RankBlock::replicas, &RankBlock::shards);
  return blocks;
}

// Shards of a run are alike, and so then are the parts that their replicas have of them.
std::vector<RankClass> rank_classes(LayoutKind layout, std::span<ParameterSpec const> parameters,
                                    Mesh const& mesh, std::function<void()> const& looked) {
  Looks const looks(layout, parameters, mesh, looked);
  std::map<std::vector<std::int64_t>, RankClass> by_size;
  auto const shard_holds = [&](int shard) {
    return looks.held_by(shard, 0, TensorKind::parameter);
  };
  for (Numbers const shards : equal_runs(mesh.shards, shard_holds)) {
    std::vector<Numbers> replicas = {{0, mesh.replicas - 1}};
    if (mesh.cuts_states_across())
      replicas = equal_runs(mesh.replicas, [&](int replica) {
        return looks.held_by(shards.first, replica, TensorKind::exp_avg);
      });
    for (Numbers const of_shard : replicas) {
      int const first = of_shard.first * mesh.shards + shards.first;
      auto const [at, is_new] = by_size.try_emplace(looks.sizes_of(shards.first, of_shard.first));
      if (is_new || first < at->second.first) at->second.first = first;
      at->second.ranks.push_back({.shards = shards, .replicas = of_shard});
    }
  }
  std::vector<RankClass> classes;
  for (auto& [sizes, found] : by_size)
    classes.push_back({.first = found.first, .ranks = joined(std::move(found.ranks))});
  std::sort(classes.begin(), classes.end(),
            [](RankClass const& a, RankClass const& b) { return a.first < b.first; });
  return classes;
}

}  // namespace adamant::scenarios
