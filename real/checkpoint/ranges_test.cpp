// Save and load of shards as no layout makes them today: a range in the middle of a row is saved,
// several ranges are loaded, whose storage may lie in two places.
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "real/checkpoint/load.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/save.h"
#include "real/comm/loopback_communicator.h"
#include "real/testing/memory_storage.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Ranges = std::vector<ElementRange>;
using Words = std::vector<std::int32_t>;

/// A rank's part of a parameter `w` of 4 x 6 elements, in host memory, the last of it elsewhere.
struct HostShard {
  HostShard(Ranges owned, std::int64_t tail_numel)
      : ranges(std::move(owned)),
        head(static_cast<std::size_t>(numel_of(ranges) - tail_numel), -1),
        tail(static_cast<std::size_t>(tail_numel), -1) {}

  /// Every element is its place in the whole.
  static Words expected(Ranges const& ranges) {
    Words words;
    for (ElementRange const range : ranges)
      for (std::int64_t i = range.begin; i < range.end; ++i)
        words.push_back(static_cast<std::int32_t>(i));
    return words;
  }

  Words all() const {
    Words words = head;
    words.insert(words.end(), tail.begin(), tail.end());
    return words;
  }

  CheckpointState described() {
    CheckpointState state;
    state.tensors = {{.shard = {.key = model_key("w"),
                                .format = NumberFormat::fp32,
                                .global_shape = {4, 6},
                                .ranges = ranges,
                                .data = reinterpret_cast<std::byte*>(head.data()),
                                .on_host = true,
                                .tail = reinterpret_cast<std::byte*>(tail.data()),
                                .tail_numel = static_cast<std::int64_t>(tail.size())}}};
    state.progress.groups = {{.name = "default", .config = {}, .step = 2, .parameters = {"w"}}};
    state.progress.parameter_steps["w"] = 2;
    state.steps = {{.parameter = "w", .step = 2}};
    return state;
  }

  Ranges ranges;
  Words head;
  Words tail;
};

/// Calls body(place, rank) on every rank, with a way to the others and to the files.
template <typename Body>
void with_places(int ranks, Storage& storage, Body const& body) {
  auto const exchange = make_loopback_exchange(ranks);
  run_ranks(ranks, Devices::shared, [&](RankContext const& context) {
    RankOfWorld const where = {.rank = context.rank, .world_size = ranks};
    LoopbackCommunicator communicator(exchange, context.rendezvous, where);
    Ledger ledger;
    Stream stream;
    Agreement agreement(communicator, ledger, stream, where);
    body(CheckpointPlace{storage, "c", agreement, ledger, stream, where, 64, {.shards = ranks}},
         context.rank);
  });
}

TEST(Ranges, AnyOneBoxIsSavedAndAnyRangesAreLoaded) {
  ADAMANT_NEEDS(3, Devices::shared);
  MemoryStorage storage;
  Ranges const saved = {{0, 4}, {4, 6}, {6, 24}};  // a part of a row, its rest, whole rows
  with_places(3, storage, [&](CheckpointPlace const& place, int rank) {
    HostShard shard({saved[static_cast<std::size_t>(rank)]}, 0);
    shard.head = HostShard::expected(shard.ranges);
    save_checkpoint(place, shard.described());
  });
  std::vector<Ranges> const loaded = {{{1, 3}, {5, 8}, {20, 21}},
                                      {{0, 1}, {3, 5}, {8, 20}, {21, 24}}};
  for (std::int64_t const tail_numel : {0, 2, 5})
    with_places(2, storage, [&](CheckpointPlace const& place, int rank) {
      HostShard shard(loaded[static_cast<std::size_t>(rank)], tail_numel);
      EXPECT_TRUE(load_checkpoint(place, shard.described(), {}, [] {}).notes.empty());
      EXPECT_EQ(shard.all(), HostShard::expected(shard.ranges));
    });
}

}  // namespace
}  // namespace adamant::real
