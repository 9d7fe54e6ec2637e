#include "sim/nccl/reduction.h"

#include <algorithm>
#include <bit>

#include "sim/cuda/runtime.h"
#include "sim/world/assert.h"

namespace adamant::sim {
namespace {

// The block that stays in the first-level cache while the inputs of all ranks pass by.
constexpr std::size_t block_bytes = 16 << 10;

// The ranks from the first operand to the last.
void fill_sequence(Order const& order, int owner, std::vector<std::size_t>& sequence) {
  auto const ranks = static_cast<int>(sequence.size());
  for (int i = 0; i < ranks; ++i) {
    int rank = i;
    if (order.kind == ReductionOrder::ring) {
      int const last = owner + order.shift;
      rank = (order.backwards ? last - 1 - i + ranks + ranks : last + 1 + i) % ranks;
    }
    sequence[static_cast<std::size_t>(i)] = static_cast<std::size_t>(rank);
  }
}

}  // namespace

Order choose_order(Choices& choices, ReductionOrder wanted, int ranks, bool matters) {
  if (!matters || ranks < 3) return {};
  if (wanted != ReductionOrder::chosen) return {.kind = wanted};
  std::uint32_t const kind = choices.pick(4);
  choices.mark(CoverageMark::sum_backwards, kind == 1);
  choices.mark(CoverageMark::sum_by_tree, kind == 2);
  choices.mark(CoverageMark::sum_by_ranks, kind == 3);
  if (kind == 2) return {.kind = ReductionOrder::tree};
  if (kind == 3) return {.kind = ReductionOrder::linear};
  std::uint32_t const shift = choices.pick(static_cast<std::uint32_t>(ranks));
  return {.backwards = kind == 1, .shift = static_cast<int>(shift)};
}

void Reducer::reduce(ReductionTask const& task) {
  ADAMANT_SIM_ASSERT(!task.from.empty());
  std::size_t const ranks = task.from.size();
  arithmetic_ = arithmetic(task.type, task.reduction);
  element_bytes_ = element_bytes(task.type);
  sequence_.resize(ranks);
  fill_sequence(task.order, task.owner, sequence_);
  scratch_.resize(std::max(scratch_.size(), block_bytes * (1 + std::bit_width(ranks))));
  std::size_t const step = block_bytes / element_bytes_;
  for (std::size_t done = 0; done < task.count; done += step) {
    std::size_t const count = std::min(step, task.count - done);
    if (task.order.kind == ReductionOrder::tree) {
      tree(task, 0, ranks, task.offset + done, count, 0);
    } else {
      chain(task, task.offset + done, count);
    }
    if (arithmetic_.divide) arithmetic_.divide(scratch_.data(), static_cast<int>(ranks), count);
    for (char* const to : task.to) {
      raw_copy(to + (task.result_offset + done) * element_bytes_, scratch_.data(),
               count * element_bytes_);
    }
  }
}

void Reducer::take(ReductionTask const& task, std::size_t rank, std::size_t first,
                   std::size_t count, char* to) const {
  Contribution const& own = task.from[rank];
  raw_copy(to, own.data + first * element_bytes_, count * element_bytes_);
  if (own.scale != nullptr) arithmetic_.scale(to, own.scale, count);
}

void Reducer::chain(ReductionTask const& task, std::size_t first, std::size_t count) {
  char* const received = scratch_.data();
  char* const scaled = received + block_bytes;
  take(task, sequence_[0], first, count, received);
  for (std::size_t i = 1; i < sequence_.size(); ++i) {
    Contribution const& own = task.from[sequence_[i]];
    char const* data = own.data + first * element_bytes_;
    if (own.scale != nullptr) {
      take(task, sequence_[i], first, count, scaled);
      data = scaled;
    }
    arithmetic_.combine(received, data, count);
  }
}

// The result of the ranks [begin, end) lands in the scratch block of the level.
void Reducer::tree(ReductionTask const& task, std::size_t begin, std::size_t end, std::size_t first,
                   std::size_t count, std::size_t level) {
  char* const to = scratch_.data() + level * block_bytes;
  if (end - begin == 1) return take(task, begin, first, count, to);
  std::size_t const middle = begin + (end - begin) / 2;
  tree(task, begin, middle, first, count, level);
  tree(task, middle, end, first, count, level + 1);
  arithmetic_.combine(to, to + block_bytes, count);
}

// ---- all parts together -------------------------------------------------------------------------

bool Reducer::reduces_together(std::uint64_t share_bytes, std::uint64_t total_bytes) {
  constexpr std::uint64_t together_bytes_max = 1 << 20;
  return share_bytes < block_bytes && total_bytes <= together_bytes_max;
}

char const* Reducer::reduce_together(PartsTask const& task) {
  together_.resize(std::max(together_.size(), task.total * element_bytes(task.type)));
  if (task.order.kind == ReductionOrder::ring) {
    rotate(task);
  } else {
    char* const to = together_.data();  // all owners share one order: their parts are one
    reduce({.type = task.type,
            .reduction = task.reduction,
            .order = task.order,
            .count = task.total,
            .from = task.from,
            .to = {&to, 1}});
  }
  return together_.data();
}

// In a ring each owner's order is a rotation of one and the same walk around the ranks. So the walk
// is made twice; the owners that begin at its first n steps each follow it for n steps:
//   1. step t < n: the owner that begins at t takes its first operand, those that began at 0 … t-1
//      add theirs;
//   2. step t >= n: those that began at t-n+1 … n-1 are still on their way.
// Owners that begin side by side lie side by side.
void Reducer::rotate(PartsTask const& task) {
  arithmetic_ = arithmetic(task.type, task.reduction);
  element_bytes_ = element_bytes(task.type);
  std::size_t const n = task.from.size();
  std::size_t const shift = static_cast<std::size_t>(task.order.shift) % n;
  bool const backwards = task.order.backwards;
  // The first of `count` owners that began at `begin` and after.
  auto const owner = [&](std::size_t begin, std::size_t count) {
    return backwards ? (3 * n - begin - count + 1 - shift) % n : (begin + 2 * n - shift - 1) % n;
  };
  for (std::size_t t = 0; t + 1 < 2 * n; ++t) {
    std::size_t const rank = backwards ? n - 1 - t % n : t % n;
    if (t < n) extend(task, rank, owner(t, 1), 1, true);
    std::size_t const begin = t < n ? 0 : t - n + 1;
    std::size_t const end = std::min(t, n);
    if (begin < end) extend(task, rank, owner(begin, end - begin), end - begin, false);
  }
  if (arithmetic_.divide) arithmetic_.divide(together_.data(), static_cast<int>(n), task.total);
}

// The next operand, or the first, of so many owners from `owner` on, around the end if need be.
void Reducer::extend(PartsTask const& task, std::size_t rank, std::size_t owner, std::size_t owners,
                     bool first) {
  std::size_t const n = task.from.size();
  std::size_t const straight = std::min(owners, n - owner);
  if (straight < owners) extend(task, rank, 0, owners - straight, first);
  std::size_t const begin = std::min(owner * task.share, task.total);
  std::size_t const end = std::min((owner + straight) * task.share, task.total);
  Contribution const& own = task.from[rank];
  char* const to = together_.data() + begin * element_bytes_;
  char const* data = own.data + begin * element_bytes_;
  std::size_t const bytes = (end - begin) * element_bytes_;
  if (own.scale != nullptr) {
    scaled_.resize(std::max(scaled_.size(), bytes));
    raw_copy(scaled_.data(), data, bytes);
    arithmetic_.scale(scaled_.data(), own.scale, end - begin);
    data = scaled_.data();
  }
  if (first) return raw_copy(to, data, bytes);
  arithmetic_.combine(to, data, end - begin);
}

}  // namespace adamant::sim
