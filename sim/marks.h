// What the simulated hardware may do and an obliging one would not: a search should have met each.
#pragma once

#include <bitset>
#include <cstddef>
#include <string_view>

namespace adamant::sim {

enum class CoverageMark {
  copy_reads_early,    // of pageable memory, before what is in front of it in the stream
  blocks_backwards,    // of a launch, the last one first
  memory_reused,       // freed before, given out again
  memory_reused_late,  // freed by another stream, whose work had ended
  sum_backwards,       // a collective's reduction, by the ring in the other direction
  sum_by_tree,
  sum_by_ranks,
  threads_reordered,  // of a host
  polled_in_vain,     // by a host that was not blocked
  count_of_marks
};
inline constexpr std::size_t mark_count = static_cast<std::size_t>(CoverageMark::count_of_marks);

using CoverageMarks = std::bitset<mark_count>;

/// As reports say it.
constexpr std::string_view name_of(CoverageMark mark) {
  constexpr std::string_view names[mark_count] = {"a pageable copy read its source early",
                                                  "blocks ran from the last to the first",
                                                  "memory was given out again",
                                                  "memory was given out again, to another stream",
                                                  "a sum went round the ring backwards",
                                                  "a sum went by a tree",
                                                  "a sum went from rank to rank",
                                                  "threads of a host changed places",
                                                  "a host polled in vain"};
  return names[static_cast<std::size_t>(mark)];
}

}  // namespace adamant::sim
