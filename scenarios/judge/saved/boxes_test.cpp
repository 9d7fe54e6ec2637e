// Who has to write which boxes: the judge against files as they should be, and each kind of
// mistake.
#include "scenarios/judge/saved/boxes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace adamant::scenarios {
namespace {

using Shape = std::vector<std::int64_t>;
using Boxes = std::vector<SavedBox>;
using Names = std::vector<std::string>;

TEST(SavedBoxes, FilesSayWhoseTheyAre) {
  FileNumbers const numbers = numbers_in("shard-00012-model-00002-of-00003.safetensors");
  EXPECT_EQ(numbers.rank, 11);
  EXPECT_EQ(numbers.index, 2);
  EXPECT_EQ(numbers.count, 3);
  for (char const* const name : {"a.safetensors", "shard-1-model-00001-of-00001.safetensors",
                                 "shard-00001-model-00001-of-00001.safetensors.old"})
    EXPECT_EQ(numbers_in(name).rank, -1) << name;
}

TEST(SavedBoxes, EveryRankHasAllOfItsFiles) {
  std::string const first = "shard-00001-model-00001-of-00001.safetensors";
  std::string const second = "shard-00002-model-00001-of-00002.safetensors";
  std::string const third = "shard-00002-model-00002-of-00002.safetensors";
  EXPECT_FALSE(fault_of_names(Names{first, second, third}, 2));
  EXPECT_EQ(fault_of_names(Names{first, second}, 2), "file 1 of 2 is one of 1 of rank 1");
  EXPECT_EQ(fault_of_names(Names{first}, 2), "there is no file of rank 1");
  EXPECT_EQ(fault_of_names(Names{first, second, third}, 1), second + " is no file of 1 ranks");
  EXPECT_EQ(fault_of_names(Names{"x.safetensors"}, 1), "x.safetensors is no file of 1 ranks");
}

/// Has a range of elements a box of its own? By its corners.
bool is_box(std::int64_t begin, std::int64_t end, Shape const& shape) {
  std::int64_t volume = 1;
  std::int64_t inner = 1;
  for (std::size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
    std::int64_t low = shape[d];
    std::int64_t high = -1;
    for (std::int64_t e = begin; e < end; ++e) {
      low = std::min(low, e / inner % shape[d]);
      high = std::max(high, e / inner % shape[d]);
    }
    volume *= high - low + 1;
  }
  return volume == end - begin;
}

// Against all ways to cut a range.
TEST(SavedBoxes, LargestBoxesAreTheFewest) {
  for (Shape const& shape : {Shape{5}, {4, 3}, {1, 4}, {3, 1, 2}, {3, 2, 4}, {2, 3, 2, 2}}) {
    std::int64_t numel = 1;
    for (std::int64_t const extent : shape) numel *= extent;
    for (std::int64_t last = 1; last <= numel; ++last) {
      std::vector<std::int64_t> fewest(static_cast<std::size_t>(last) + 1, 0);
      for (std::int64_t begin = last - 1; begin >= 0; --begin) {
        auto& best = fewest[static_cast<std::size_t>(begin)];
        best = last;
        for (std::int64_t end = begin + 1; end <= last; ++end)
          if (is_box(begin, end, shape))
            best = std::min(best, 1 + fewest[static_cast<std::size_t>(end)]);
        std::int64_t count = 0;
        for (std::int64_t at = begin; at < last; ++count) {
          std::int64_t const end = end_of_largest_box(at, last, shape);
          ASSERT_TRUE(is_box(at, end, shape));
          at = end;
        }
        ASSERT_EQ(count, best) << begin << ", " << last;
      }
    }
  }
}

SavedBox box(int rank, int file, Shape const& offsets, Shape const& shape) {
  return {.shape = shape, .offsets = offsets, .values = {}, .rank = rank, .file_of_rank = file};
}

/// Two shards of [4, 3], cut after `cut` elements, on two replicas.
std::string fault(Boxes const& boxes, std::int64_t cut = 5) {
  std::vector<ElementRange> const held = {{0, cut}, {cut, 12}};
  SavingWorld const world = {
      .mesh = {.shards = 2, .replicas = 2}, .held = [&](int, int rank, TensorKind) {
        return std::span(held).subspan(static_cast<std::size_t>(rank % 2), 1);
      }};
  WrittenTensor const written = {.key = "w", .boxes = boxes, .shape = {4, 3}};
  return fault_of_boxes(written, world, 0, TensorKind::parameter).value_or("none");
}

Boxes const right = {box(0, 1, {0, 0}, {1, 3}), box(0, 2, {1, 0}, {1, 2}),
                     box(1, 1, {1, 2}, {1, 1}), box(1, 2, {2, 0}, {2, 3})};

/// Those, with one in the place of another.
Boxes with(std::size_t which, SavedBox const& other) {
  Boxes boxes = right;
  boxes[which] = other;
  return boxes;
}

TEST(SavedBoxes, OnesThatAreRightHaveNoFault) {
  EXPECT_EQ(fault(right), "none");
  EXPECT_EQ(fault({box(0, 1, {0, 0}, {2, 3}), box(1, 1, {2, 0}, {2, 3})}, 6), "none");
  Boxes empty = right;
  empty.push_back(box(3, 1, {4, 0}, {0, 3}));
  EXPECT_EQ(fault(empty), "none");
}

TEST(SavedBoxes, EachMistakeIsNamed) {
  Boxes twice = right;
  twice.push_back(box(2, 1, {1, 0}, {1, 2}));
  EXPECT_EQ(fault(twice),
            "w: elements 3 to 5 in file 1 of rank 2 are written twice, element 3 also by rank 0");
  EXPECT_EQ(fault(with(3, box(3, 1, {2, 0}, {2, 3}))),
            "w: elements 6 to 12 in file 1 of rank 3 are written, but rank 1 is the lowest that "
            "holds them");
  EXPECT_EQ(fault(with(3, box(1, 3, {2, 0}, {2, 3}))),
            "w: has elements 6 to 12 in file 3 of rank 1, expected elements 6 to 12 in file 2 of "
            "rank 1");
  Boxes split = with(3, box(1, 2, {2, 0}, {1, 3}));
  split.push_back(box(1, 3, {3, 0}, {1, 3}));
  EXPECT_EQ(fault(split), "w: rank 1 has written 3 boxes, expected the fewest that it takes, 2");
  EXPECT_EQ(fault(with(1, box(0, 2, {1, 0}, {1, 1}))), "w: element 4 is not written");
  EXPECT_EQ(fault({right.begin(), right.end() - 1}), "w: element 6 is not written");
  EXPECT_EQ(fault(with(1, box(0, 2, {0, 0}, {2, 1}))),
            "w: a box has elements that do not follow each other");
}

TEST(SavedBoxes, PartsAndCodesAreCountedInTheParameter) {
  std::vector<ElementRange> const held = {{0, 8}, {8, 16}};
  SavingWorld const world = {.mesh = {.shards = 2}, .held = [&](int, int rank, TensorKind) {
                               return std::span(held).subspan(static_cast<std::size_t>(rank), 1);
                             }};
  Boxes const second_part = {box(1, 1, {0, 0}, {2, 4})};
  Boxes const whole = {box(0, 1, {0, 0}, {2, 4})};
  auto const fault_of = [&](Boxes const& boxes, std::int64_t first, std::int64_t each) {
    return fault_of_boxes(
        {.key = "w", .boxes = boxes, .shape = {2, 4}, .first = first, .elements_each = each}, world,
        0, TensorKind::parameter);
  };
  EXPECT_FALSE(fault_of(second_part, 8, 1));
  EXPECT_FALSE(fault_of(whole, 0, 1));
  EXPECT_TRUE(fault_of(whole, 8, 1));
  EXPECT_FALSE(fault_of({box(0, 1, {0, 0}, {1, 4}), box(1, 1, {1, 0}, {1, 4})}, 0, 2));
}

}  // namespace
}  // namespace adamant::scenarios
