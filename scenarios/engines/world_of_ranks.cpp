#include "scenarios/engines/world_of_ranks.h"

namespace adamant::scenarios {

std::uint64_t WorldOfRanks::fold(std::size_t parameters) const {
  std::uint64_t fold = 0;
  for (int rank = 0; rank < rank_count(); ++rank)
    for (std::size_t p = 0; p < parameters; ++p) {
      Shard const held = shard(rank, static_cast<int>(p), TensorKind::parameter);
      fold = (fold ^ weighted_sum(held)) * 0x9e3779b97f4a7c15ULL;
    }
  return fold;
}

}  // namespace adamant::scenarios
