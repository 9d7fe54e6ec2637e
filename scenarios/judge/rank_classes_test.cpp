#include "scenarios/judge/rank_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "oracle/layout/fsdp2.h"
#include "oracle/layout/layout.h"

namespace adamant::scenarios {
namespace {

std::vector<ParameterSpec> of_rows(std::vector<std::int64_t> const& rows) {
  std::vector<ParameterSpec> parameters;
  for (std::int64_t const count : rows) parameters.push_back({.name = "w", .shape = {count, 3}});
  return parameters;
}

std::vector<std::int64_t> sizes(std::vector<ParameterSpec> const& parameters, int rank, int ranks) {
  std::vector<std::int64_t> numels;
  for (ParameterSpec const& parameter : parameters)
    numels.push_back(oracle::rows_of(parameter.rows(), {.index = rank, .count = ranks}).numel() *
                     parameter.row_numel());
  return numels;
}

/// Each rank's class, by its number in rank_classes().
std::vector<int> class_of_each(std::vector<RankClass> const& classes, Mesh const& mesh) {
  std::vector<int> number(static_cast<std::size_t>(mesh.rank_count()), -1);
  for (std::size_t c = 0; c < classes.size(); ++c)
    for (RankBlock const& block : classes[c].ranks)
      for (int replica = block.replicas.first; replica <= block.replicas.last; ++replica)
        for (int shard = block.shards.first; shard <= block.shards.last; ++shard) {
          auto const rank = static_cast<std::size_t>(replica * mesh.shards + shard);
          EXPECT_EQ(number.at(rank), -1) << "twice: " << rank;
          number.at(rank) = static_cast<int>(c);
        }
  return number;
}

// Every pair of up to 12 rows on up to 9 ranks.
TEST(RankClasses, HaveEachRankOnceAmongThoseOfItsSizes) {
  for (std::int64_t a = 0; a <= 12; ++a)
    for (std::int64_t b = 0; b <= 12; ++b)
      for (int ranks = 1; ranks <= 9; ++ranks) {
        auto const parameters = of_rows({a, b});
        auto const classes = rank_classes(LayoutKind::fsdp2, parameters, {.shards = ranks});
        auto const number = class_of_each(classes, {.shards = ranks});
        std::set<std::vector<std::int64_t>> different;
        for (int rank = 0; rank < ranks; ++rank) {
          auto const at = static_cast<std::size_t>(number[static_cast<std::size_t>(rank)]);
          ASSERT_LT(at, classes.size()) << a << " " << b << " on " << ranks;
          EXPECT_EQ(sizes(parameters, rank, ranks), sizes(parameters, classes[at].first, ranks));
          different.insert(sizes(parameters, rank, ranks));
        }
        EXPECT_EQ(classes.size(), different.size());
      }
}

/// How many elements a rank has of each parameter, and of its states.
std::vector<std::int64_t> numels_of(oracle::Layout const& layout, std::size_t parameters,
                                    int rank) {
  std::vector<std::int64_t> numels;
  for (std::size_t p = 0; p < parameters; ++p)
    for (TensorKind const kind : {TensorKind::parameter, TensorKind::exp_avg})
      numels.push_back(numel_of(layout.ranges(static_cast<int>(p), rank, kind)));
  return numels;
}

/// Each rank is in one class, whose first is the lowest of those that hold as much.
void expect_right_classes(LayoutKind layout, std::vector<ParameterSpec> const& parameters,
                          Mesh const& mesh) {
  oracle::Layout const all = oracle::lay_out(layout, parameters, mesh);
  auto const classes = rank_classes(layout, parameters, mesh);
  auto const number = class_of_each(classes, mesh);
  std::vector<int> first(classes.size(), -1);
  for (int rank = 0; rank < mesh.rank_count(); ++rank) {
    auto const at = static_cast<std::size_t>(number[static_cast<std::size_t>(rank)]);
    ASSERT_LT(at, classes.size()) << "rank " << rank;
    if (first[at] < 0) first[at] = rank;
    EXPECT_EQ(classes[at].first, first[at]);
    EXPECT_EQ(numels_of(all, parameters.size(), rank),
              numels_of(all, parameters.size(), first[at]));
  }
}

TEST(RankClasses, HaveEachRankOnceOnAnyMeshInAnyLayout) {
  for (LayoutKind const layout : {LayoutKind::fsdp2, LayoutKind::flat, LayoutKind::bucketed})
    for (Outer const outer : {Outer::none, Outer::optim})
      for (int shards = 1; shards <= 5; ++shards)
        for (int replicas = 1; replicas <= 5; ++replicas)
          for (std::int64_t rows = 0; rows <= 40; rows += 5) {
            SCOPED_TRACE(testing::Message()
                         << static_cast<int>(layout) << static_cast<int>(outer) << ": " << shards
                         << " x " << replicas << ", " << rows << " rows");
            expect_right_classes(layout, of_rows({rows, 7, 23}),
                                 {.shards = shards, .replicas = replicas, .outer = outer});
          }
}

// Of replicas that hold the same there is one class, of those that share out states one for each
// size.
TEST(RankClasses, OfReplicasAreThoseOfWhatTheyHoldOfStates) {
  auto const parameters = of_rows({6});
  auto const blocks = [&](Outer outer) {
    std::vector<std::vector<RankBlock>> found;
    for (RankClass const& alike :
         rank_classes(LayoutKind::fsdp2, parameters, {.shards = 2, .replicas = 4, .outer = outer}))
      found.push_back(alike.ranks);
    return found;
  };
  EXPECT_EQ(blocks(Outer::none),
            (std::vector<std::vector<RankBlock>>{{{.shards = {0, 1}, .replicas = {0, 3}}}}));
  EXPECT_EQ(blocks(Outer::optim),
            (std::vector<std::vector<RankBlock>>{{{.shards = {0, 1}, .replicas = {0, 2}}},
                                                 {{.shards = {0, 1}, .replicas = {3, 3}}}}));
}

// Tensors side by side, with gaps, in a buffer that is cut evenly, whatever the rows.
TEST(RankClasses, RunsOfABufferThatIsCutEvenlyAreEqual) {
  for (std::int64_t gap = 0; gap <= 5; ++gap)
    for (std::int64_t first = 0; first <= 40; ++first)
      for (std::int64_t second = 1; second <= 40; second += 3) {
        std::vector<ElementRange> const tensors = {{gap, gap + first},
                                                   {2 * gap + first, 2 * gap + first + second}};
        constexpr int parts = 13;
        std::int64_t const each = (3 * gap + first + second + parts - 1) / parts;
        auto const held = [&](int part) {
          Held ranges;
          for (ElementRange const tensor : tensors)
            ranges.push_back(
                {std::clamp(part * each - tensor.begin, std::int64_t{0}, tensor.numel()),
                 std::clamp((part + 1) * each - tensor.begin, std::int64_t{0}, tensor.numel())});
          return ranges;
        };
        int next = 0;
        for (Numbers const run : equal_runs(parts, held)) {
          ASSERT_EQ(run.first, next);
          next = run.last + 1;
          for (int part = run.first; part <= run.last; ++part)
            for (std::size_t t = 0; t < tensors.size(); ++t)
              ASSERT_EQ(held(part)[t].numel(), held(run.first)[t].numel());
        }
        ASSERT_EQ(next, parts);
      }
}

TEST(RankClasses, FewLooksAreEnoughForAMillion) {
  int looks = 0;
  auto const runs = equal_runs(1 << 20, [&](int part) -> Held {
    ++looks;
    return {{std::min(part, 777'777), std::min(part + 1, 777'777)}};
  });
  EXPECT_LT(runs.size(), 100U);
  EXPECT_LT(looks, 1000);
}

TEST(RankClasses, BlocksSideBySideAreOne) {
  std::vector<RankBlock> const blocks = {{.shards = {2, 3}, .replicas = {0, 0}},
                                         {.shards = {0, 1}, .replicas = {0, 0}},
                                         {.shards = {0, 3}, .replicas = {1, 2}},
                                         {.shards = {5, 5}, .replicas = {0, 2}}};
  std::vector<RankBlock> const expected = {{.shards = {0, 3}, .replicas = {0, 2}},
                                           {.shards = {5, 5}, .replicas = {0, 2}}};
  EXPECT_EQ(joined(blocks), expected);
}

}  // namespace
}  // namespace adamant::scenarios
