// What memory holds that nobody has written: bytes which are a NaN in every floating-point format
// of CUDA, in new and in freed blocks alike.
//
// It does not know whose a block is, or who may read it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/world/world.h"

namespace adamant::sim {

/// Fills [begin, begin + bytes) of the region; other threads help with a large block. Of what is
/// larger than half a GiB both ends alone, and the rest is not committed.
void poison(World& world, std::uint64_t begin, std::uint64_t bytes);

/// [begin, end), cut where large pages of the host end. Of two threads that touch one page first
/// each is given a page of zeros by the host, and one of these is thrown away.
struct Stretch {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
std::vector<Stretch> by_large_pages(std::uint64_t begin, std::uint64_t end);

}  // namespace adamant::sim
