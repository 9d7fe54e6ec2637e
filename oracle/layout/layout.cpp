#include "oracle/layout/layout.h"

#include <algorithm>

#include "oracle/check.h"
#include "oracle/layout/buckets.h"

namespace adamant::oracle {

void Layout::Table::add(std::span<ElementRange const> held) {
  std::int64_t end = 0;
  for (ElementRange const range : held) {
    check(end <= range.begin, "ranges ascend and do not overlap");
    check(range.begin <= range.end, "a range has no negative length");
    end = range.end;
  }
  ranges.insert(ranges.end(), held.begin(), held.end());
  ends.push_back(ranges.size());
}

std::span<ElementRange const> Layout::Table::at(std::size_t index) const {
  check(index < ends.size(), "the parameter is laid out");
  std::size_t const begin = index == 0 ? 0 : ends[index - 1];
  return std::span(ranges).subspan(begin, ends[index] - begin);
}

Layout::Layout(Mesh const& mesh, LayoutKind kind) : mesh_(mesh), kind_(kind) {
  check(mesh.shards >= 1, "a world has a shard");
  check(mesh.replicas >= 1, "a world has a replica");
}

void Layout::add(std::span<ElementRange const> held) {
  parameters_.add(held);
}

void Layout::add_states(std::span<ElementRange const> held) {
  check(mesh_.cuts_states_across(), "otherwise states are cut as parameters are");
  states_.add(held);
}

std::span<ElementRange const> Layout::ranges(int parameter, int rank, TensorKind kind) const {
  check(parameter >= 0, "parameters count from 0");
  check(rank >= 0, "ranks count from 0");
  check(rank < mesh_.rank_count(), "a rank is in its world");
  bool const apart = kind != TensorKind::parameter && mesh_.cuts_states_across();
  auto const holders = static_cast<std::size_t>(holder_count(kind));
  std::size_t const holder = static_cast<std::size_t>(rank) % holders;
  return (apart ? states_ : parameters_).at(static_cast<std::size_t>(parameter) * holders + holder);
}

int Layout::owner(int parameter, std::int64_t element, TensorKind kind) const {
  int rank = 0;
  auto const holds = [&](ElementRange const& range) {
    return range.begin <= element && element < range.end;
  };
  while (!std::ranges::any_of(ranges(parameter, rank, kind), holds)) ++rank;
  return rank;
}

std::vector<int> Layout::holders_of(std::span<ElementRange const> elements, int parameter,
                                    TensorKind kind) const {
  std::vector<int> holders;
  auto const holds_any = [&](ElementRange const& held) {
    auto const next = std::ranges::upper_bound(elements, held.begin, {}, &ElementRange::end);
    return held.numel() > 0 && next != elements.end() && next->begin < held.end;
  };
  for (int rank = 0; rank < holder_count(kind); ++rank)
    if (std::ranges::any_of(ranges(parameter, rank, kind), holds_any)) holders.push_back(rank);
  return holders;
}

Layout lay_out(LayoutKind kind, std::span<ParameterSpec const> parameters, Mesh const& mesh) {
  struct Home {
    std::size_t bucket = 0;
    std::int64_t offset = 0;
  };
  std::vector<Bucket> const buckets = buckets_of(kind, parameters, mesh);
  std::vector<Home> homes(parameters.size());
  for (std::size_t b = 0; b < buckets.size(); ++b)
    for (Placed const placed : buckets[b].parameters)
      homes[static_cast<std::size_t>(placed.parameter)] = {.bucket = b, .offset = placed.offset};
  Layout layout(mesh, kind);
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto const held = [&](int rank, TensorKind tensor) {
      ElementRange const part = part_of(buckets[homes[p].bucket], mesh, rank, tensor);
      return elements_in(part, homes[p].offset, parameters[p].numel());
    };
    for (int shard = 0; shard < mesh.shards; ++shard) {
      ElementRange const range = held(shard, TensorKind::parameter);
      layout.add({&range, 1});
    }
    for (int rank = 0; mesh.cuts_states_across() && rank < mesh.rank_count(); ++rank) {
      ElementRange const range = held(rank, TensorKind::exp_avg);
      layout.add_states({&range, 1});
    }
  }
  return layout;
}

}  // namespace adamant::oracle
