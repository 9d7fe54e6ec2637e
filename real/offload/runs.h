// How loops over several arrays are cut: elements of all pieces, one piece after the other,
// numbered through, so that a chunk may begin and end anywhere. Numbers only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace adamant::real {

/// Elements [begin, end) of the numbering.
struct Chunk {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The chunk of that number of `chunks` nearly equal ones of [0, total). They begin at multiples of
/// 16 elements: two threads never write the same cache line of an aligned array.
inline Chunk chunk_of(std::int64_t total, int chunk, int chunks) {
  auto const cut = [&](std::int64_t number) {
    std::int64_t const even = total / chunks * number + total % chunks * number / chunks;
    return number == chunks ? total : even / 16 * 16;
  };
  return {cut(chunk), cut(chunk + 1)};
}

/// Calls `visit(piece, first, count)` for the elements of each piece that lie in `range`. `ends[i]`
/// is the number of elements of pieces 0 … i.
template <typename Visit>
void for_each_run(std::span<std::int64_t const> ends, Chunk const& range, Visit visit) {
  auto const first = std::upper_bound(ends.begin(), ends.end(), range.begin) - ends.begin();
  for (auto piece = static_cast<std::size_t>(first); piece < ends.size(); ++piece) {
    std::int64_t const begins = piece == 0 ? 0 : ends[piece - 1];
    if (begins >= range.end) return;
    std::int64_t const from = std::max(range.begin, begins);
    visit(piece, from - begins, std::min(range.end, ends[piece]) - from);
  }
}

}  // namespace adamant::real
