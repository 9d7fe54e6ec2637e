#include "real/offload/runs.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::real {
namespace {

TEST(Runs, ChunksTileAllElements) {
  for (std::int64_t const total : {0, 1, 15, 16, 17, 100, 1'000'003}) {
    for (int chunks = 1; chunks <= 5; ++chunks) {
      std::int64_t next = 0;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        Chunk const range = chunk_of(total, chunk, chunks);
        EXPECT_EQ(range.begin, next);
        EXPECT_EQ(range.begin % 16, 0);
        EXPECT_LE(range.begin, range.end);
        next = range.end;
      }
      EXPECT_EQ(next, total);
    }
  }
}

TEST(Runs, EveryElementOfEveryPieceIsVisitedOnceInWhateverChunks) {
  std::vector<std::int64_t> const counts = {5, 0, 100, 1, 64};
  std::vector<std::int64_t> ends;
  for (std::int64_t const count : counts) ends.push_back((ends.empty() ? 0 : ends.back()) + count);
  for (int chunks = 1; chunks <= 6; ++chunks) {
    std::vector<std::vector<int>> visits;
    for (std::int64_t const count : counts) visits.emplace_back(static_cast<std::size_t>(count), 0);
    for (int chunk = 0; chunk < chunks; ++chunk)
      for_each_run(ends, chunk_of(ends.back(), chunk, chunks),
                   [&](std::size_t piece, std::int64_t first, std::int64_t count) {
                     for (std::int64_t i = first; i < first + count; ++i)
                       ++visits[piece].at(static_cast<std::size_t>(i));
                   });
    for (std::vector<int> const& piece : visits)
      EXPECT_EQ(piece, std::vector<int>(piece.size(), 1));
  }
}

}  // namespace
}  // namespace adamant::real
