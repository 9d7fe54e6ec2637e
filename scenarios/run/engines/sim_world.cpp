#include "scenarios/run/engines/sim_world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/sim.h"

namespace adamant::scenarios {

namespace {

/// The bits of infinity; what lies above them, but for the sign, is no number.
std::uint32_t infinity_of(NumberFormat format) {
  if (format == NumberFormat::fp32) return 0x7f800000;
  return format == NumberFormat::bf16 ? 0x7f80 : 0x7c00;
}

/// Any NaN counts as the same one: which it is follows from the order of operands, and that is a
/// compiler's choice.
template <typename Word>
std::uint64_t weighted_sum(std::span<std::byte const> bytes, std::uint32_t infinity) {
  constexpr std::uint32_t magnitude = static_cast<Word>(~Word{0}) >> 1;
  std::uint64_t sum = 0;
  std::uint32_t weight = 1;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    Word word;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    std::uint64_t const bits = (word & magnitude) > infinity ? infinity + 1 : word;
    sum += bits * (weight += 2);
  }
  return sum;
}

std::uint64_t weighted_sum(Shard const& shard) {
  std::uint32_t const infinity = infinity_of(shard.format);
  bool const wide = bytes_of(shard.format) == sizeof(std::uint32_t);
  return wide ? weighted_sum<std::uint32_t>(shard.bytes, infinity)
              : weighted_sum<std::uint16_t>(shard.bytes, infinity);
}

}  // namespace

std::vector<WorldAllocation> live_allocations() {
  auto const allocations = sim::live_allocations();
  std::vector<WorldAllocation> live;
  live.reserve(allocations.size());
  for (sim::LiveAllocation const& allocation : allocations)
    live.push_back({allocation.address, allocation.bytes, allocation.rank, allocation.on_host});
  return live;
}

Shard SimWorld::shard(int rank, int parameter, TensorKind kind) const {
  auto const number =
      (static_cast<std::size_t>(rank) * parameters_ + static_cast<std::size_t>(parameter)) *
          tensor_kind_count +
      static_cast<std::size_t>(kind);
  std::optional<Shard>& known = shards_[number];
  if (known) return *known;
  std::vector<std::byte> none;  // where nothing lies in two places
  known = shard_of(at(rank).engine(), parameter, kind, rooms_.empty() ? none : rooms_[number]);
  return *known;
}

std::vector<NamedBuffer> SimWorld::note_buffers(int rank) {
  auto& known = buffers_[static_cast<std::size_t>(rank)];
  auto now = named_buffers(at(rank).engine());
  std::vector<NamedBuffer> fresh;
  for (NamedBuffer const& buffer : now) {
    bool const old = std::any_of(known.begin(), known.end(), [&](NamedBuffer const& other) {
      return other.address == buffer.address && other.purpose == buffer.purpose;
    });
    if (!old) fresh.push_back(buffer);
  }
  known = std::move(now);
  return fresh;
}

std::optional<std::vector<WorldAllocation>> SimWorld::allocations() const {
  auto live = live_allocations();
  std::erase_if(live, [&](WorldAllocation const& allocation) {
    return at(allocation.rank).gradients().allocation() == allocation.address;
  });
  return live;
}

std::optional<std::uint64_t> SimWorld::gathered_fingerprint(int rank, int parameter) const {
  auto const partials = at(rank).gradients().partial_fingerprints(parameter);
  if (partials.empty()) return std::nullopt;
  std::uint64_t sum = 0;
  for (std::uint64_t const partial : partials) sum += partial;
  return sum;
}

std::uint64_t SimWorld::fold(std::size_t parameters) const {
  std::uint64_t fold = 0;
  for (int rank = 0; rank < rank_count(); ++rank)
    for (std::size_t p = 0; p < parameters; ++p) {
      Shard const held = shard(rank, static_cast<int>(p), TensorKind::parameter);
      fold = (fold ^ weighted_sum(held)) * 0x9e3779b97f4a7c15ULL;
    }
  return fold;
}

}  // namespace adamant::scenarios
