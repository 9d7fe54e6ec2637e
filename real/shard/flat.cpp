#include "real/shard/flat.h"

namespace adamant::real {

Placement place_flat(std::span<TensorSize const> tensors, int shards) {
  constexpr std::int64_t alignment = 8;
  Placement placement{.offsets = std::vector<std::int64_t>(tensors.size(), 0)};
  for (std::size_t t = tensors.size(); t-- > 0;) {
    placement.offsets[t] = placement.numel;
    placement.numel = round_up(placement.numel + tensors[t].numel, alignment);
  }
  placement.numel = round_up(placement.numel, alignment * shards);
  return placement;
}

}  // namespace adamant::real
