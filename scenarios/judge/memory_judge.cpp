#include "scenarios/judge/memory_judge.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace adamant::scenarios {

namespace {

bool allowed_peak(Purpose purpose, std::int64_t peak, std::int64_t expected) {
  return purpose == Purpose::checkpoint ? peak <= checkpoint_bytes_max : peak == expected;
}

Allocated allocated(std::size_t bytes, bool on_host) {
  return {.bytes = static_cast<std::int64_t>(bytes), .on_host = on_host};
}

template <typename Allocation>
bool by_address(Allocation const& a, Allocation const& b) {
  return std::less<void const*>()(a.address, b.address);
}

// Those of each rank side by side, counted and not compared: a sort of all would cost each of many
// ranks more than it costs one of a few.
std::vector<WorldAllocation> side_by_side(std::vector<WorldAllocation> const& live, int ranks) {
  std::vector<std::size_t> next(static_cast<std::size_t>(ranks) + 1);
  for (WorldAllocation const& each : live) ++next[static_cast<std::size_t>(each.rank) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<WorldAllocation> result(live.size());
  for (WorldAllocation const& each : live)
    result[next[static_cast<std::size_t>(each.rank)]++] = each;
  return result;
}

}  // namespace

MemoryJudge::MemoryJudge(Scenario const& scenario, std::vector<ParameterSpec> const& parameters,
                         RunFindings& findings)
    : budgets_(scenario), findings_(findings) {
  begin_world(scenario, parameters, scenario.optimizer.clip);
}

void MemoryJudge::begin_world(Scenario const& setting, std::vector<ParameterSpec> const& parameters,
                              Clip const& clip) {
  std::vector<int> ranks(static_cast<std::size_t>(setting.world.rank_count()));
  std::iota(ranks.begin(), ranks.end(), 0);
  budgets_.begin_world(setting, parameters, ranks, clip);
}

void MemoryJudge::note_peaks(WorldView const& world) {
  if (!world.shown().memory) return;
  for (int rank = 0; rank < world.rank_count(); ++rank)
    for (int i = 0; i < purpose_count; ++i)
      raise_to(peak_bytes_[static_cast<std::size_t>(i)],
               world.peaks(rank, static_cast<Purpose>(i)));
}

void MemoryJudge::compare(WorldView const& world) {
  if (!world.shown().memory) return;
  auto const live = world.allocations();
  std::vector<WorldAllocation> by_rank;
  if (live) by_rank = side_by_side(*live, world.rank_count());
  std::span<WorldAllocation> left = by_rank;
  for (int rank = 0; rank < world.rank_count(); ++rank) {
    auto buffers = world.buffers(rank);
    compare_purposes(world, rank, buffers);
    if (!live) continue;
    auto const behind = std::ranges::find_if(
        left, [&](WorldAllocation const& allocation) { return allocation.rank != rank; });
    auto const own = left.first(static_cast<std::size_t>(behind - left.begin()));
    left = left.subspan(own.size());
    std::sort(own.begin(), own.end(), by_address<WorldAllocation>);
    compare_one_by_one(rank, std::move(buffers), own);
  }
}

void MemoryJudge::compare_purposes(WorldView const& world, int rank,
                                   std::vector<NamedBuffer> const& buffers) {
  std::array<LiveBytes, purpose_count> listed{};
  for (NamedBuffer const& buffer : buffers) {
    LiveBytes& bytes = listed[static_cast<std::size_t>(buffer.purpose)];
    (buffer.on_host ? bytes.pinned : bytes.device) += static_cast<std::int64_t>(buffer.bytes);
  }
  oracle::Budget const& budget = budgets_.of(static_cast<std::size_t>(rank));
  for (int i = 0; i < purpose_count; ++i) {
    auto const purpose = static_cast<Purpose>(i);
    LiveBytes const expected{.device = budget.device_bytes(purpose),
                             .pinned = budget.pinned_bytes(purpose)};
    LiveBytes const& actual = listed[static_cast<std::size_t>(i)];
    if (actual != expected)
      report({.breach = Breach::other_live_bytes,
              .rank = rank,
              .subject = Buffers{purpose},
              .expected = expected,
              .actual = actual});
    auto const peak = static_cast<std::int64_t>(world.peak_bytes(rank, purpose));
    if (!allowed_peak(purpose, peak, budget.peak_bytes(purpose)))
      report({.breach = Breach::other_peak,
              .rank = rank,
              .subject = Buffers{purpose},
              .expected = Count{budget.peak_bytes(purpose)},
              .actual = Count{peak}});
  }
}

// Two sorted lists, walked side by side.
void MemoryJudge::compare_one_by_one(int rank, std::vector<NamedBuffer> buffers,
                                     std::span<WorldAllocation const> live) {
  std::sort(buffers.begin(), buffers.end(), by_address<NamedBuffer>);
  auto buffer = buffers.begin();
  auto allocation = live.begin();
  while (buffer != buffers.end() || allocation != live.end()) {
    bool const listed = buffer != buffers.end();
    bool const alive = allocation != live.end();
    if (listed && alive && buffer->address == allocation->address) {
      bool const same =
          buffer->bytes == allocation->bytes && buffer->on_host == allocation->on_host;
      if (!same)
        report({.breach = Breach::other_allocation,
                .rank = rank,
                .subject = Buffers{buffer->purpose},
                .expected = allocated(allocation->bytes, allocation->on_host),
                .actual = allocated(buffer->bytes, buffer->on_host)});
      ++buffer;
      ++allocation;
    } else if (alive &&
               (!listed || std::less<void const*>()(allocation->address, buffer->address))) {
      report({.breach = Breach::unlisted_allocation,
              .rank = rank,
              .actual = allocated(allocation->bytes, allocation->on_host)});
      ++allocation;
    } else {
      report({.breach = Breach::dead_buffer, .rank = rank, .subject = Buffers{buffer->purpose}});
      ++buffer;
    }
  }
}

void MemoryJudge::expect_nothing(Leftovers const& left) {
  for (WorldAllocation const& allocation : left.allocations)
    report({.breach = Breach::left_allocation,
            .rank = allocation.rank,
            .actual = allocated(allocation.bytes, allocation.on_host)});
  for (LiveHandles const& handles : left.handles)
    report({.breach = Breach::left_handles, .actual = Count{handles.count}, .text = handles.kind});
}

void MemoryJudge::report(Violation violation) {
  violation.law = Law::memory_budget;
  findings_.add(std::move(violation));
}

}  // namespace adamant::scenarios
