// Which block of a launch over a work list has what: a section of a piece, 4,096 elements, so that
// 256 threads do four 16-byte accesses to each fp32 array; 16 sections a piece keep all
// multiprocessors busy with a few hundred pieces. Blocks that follow each other have sections that
// do, and so have those that run at the same time: what they touch lies together in memory. It
// knows nothing of what a kernel does there.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "real/cuda/assert.h"
#include "real/step/work_list.h"

namespace adamant::real {

inline constexpr int section_numel = 4'096;
static_assert(piece_numel_max % section_numel == 0);

/// Elements [begin, begin + count) of a piece; none where the piece is shorter.
struct Section {
  std::int64_t begin = 0;
  int count = 0;
};

/// All pieces have as many sections as the longest, so that a block needs no more than its number
/// to find its own; of a short piece most are empty.
struct SectionGrid {
  std::uint32_t sections = 1;  // a piece
  std::uint32_t blocks = 1;

  __host__ __device__ std::uint32_t piece_of(std::uint32_t block) const { return block / sections; }
  __host__ __device__ Section section_of(WorkPiece const& piece, std::uint32_t block) const {
    int const begin = static_cast<int>(block % sections) * section_numel;
    if (begin >= piece.count) return {};
    int const left = piece.count - begin;
    return {.begin = begin, .count = left < section_numel ? left : section_numel};
  }
};

/// REQUIRES: some piece.
inline SectionGrid grid_of(WorkListExtent const& extent) {
  ADAMANT_REAL_ASSERT(extent.piece_count > 0);
  std::int64_t const sections = (extent.longest + section_numel - 1) / section_numel;
  ADAMANT_REAL_ASSERT(extent.piece_count <= 0x7fffffff / sections);  // the widest grid
  return {.sections = static_cast<std::uint32_t>(sections),
          .blocks = static_cast<std::uint32_t>(extent.piece_count * sections)};
}

}  // namespace adamant::real
