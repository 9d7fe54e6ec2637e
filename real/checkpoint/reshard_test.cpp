#include "real/checkpoint/reshard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <utility>

#include "real/checkpoint/checkpoint_error.h"
#include "real/shard/layout.h"
#include "real/testing/saved_tensors.h"

namespace adamant::real {
namespace {

std::vector<std::string> const names = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};

/// The boxes of a world: one a rank, each at the start of its own file.
std::vector<BoxInFile> boxes_by(int world_size, std::vector<std::int64_t> const& shape) {
  std::vector<BoxInFile> boxes;
  ParameterSpec spec;
  spec.shape = shape;
  for (int rank = 0; rank < world_size; ++rank) {
    Layout const layout(std::span(&spec, 1), {.rank = rank, .mesh = {.shards = world_size}});
    Box const box = box_of(layout[0].held, shape).value();
    boxes.push_back({.file = rank, .offsets = box.offsets, .shape = box.shape});
  }
  return boxes;
}

SavedTensor saved_by(int world_size, std::vector<std::int64_t> const& shape) {
  return tensor_of(shape, boxes_by(world_size, shape));
}

using Extents = std::vector<std::int64_t>;
using Ranges = std::vector<ElementRange>;

/// What a rank of a world owns.
Ranges owned_by(int rank, int world_size, std::vector<std::int64_t> const& shape) {
  ParameterSpec spec;
  spec.shape = shape;
  return {Layout(std::span(&spec, 1), {.rank = rank, .mesh = {.shards = world_size}})[0].held};
}

/// REQUIRES: the ranges outlive the result.
ShardDescription shard_of(Ranges const& ranges, std::vector<std::int64_t> const& shape) {
  return {.key = "t", .format = NumberFormat::fp32, .global_shape = shape, .ranges = ranges};
}

/// The files' content where the element with row-major index i has value i.
std::vector<std::vector<std::int32_t>> files_of(SavedTensor const& tensor) {
  std::vector<std::vector<std::int32_t>> files(names.size());
  for (SavedBox const box : tensor.boxes) {
    for (std::int64_t i = 0; i < box.numel(); ++i) {
      std::int64_t rest = i;
      std::int64_t index = 0;
      std::int64_t stride = 1;
      for (std::size_t d = box.shape.size(); d-- > 0;) {
        index += (rest % box.shape[d] + box.offsets[d]) * stride;
        rest /= box.shape[d];
        stride *= tensor.shape[d];
      }
      files[static_cast<std::size_t>(box.file)].push_back(static_cast<std::int32_t>(index));
    }
  }
  return files;
}

/// Carries out a plan; elements that nobody wrote are -1.
std::vector<std::int32_t> carry_out(SavedTensor const& tensor, ShardDescription const& shard) {
  auto const files = files_of(tensor);
  std::vector<ReadRange> ranges;
  plan_reads(tensor, shard, ranges);
  std::vector<std::int32_t> own(static_cast<std::size_t>(shard.numel()), -1);
  std::uint64_t moved = 0;
  for (ReadRange const& range : ranges) {
    auto const& file = files[static_cast<std::size_t>(range.file)];
    EXPECT_LE(range.begin + range.bytes, file.size() * 4);
    EXPECT_LE(range.to + range.bytes, own.size() * 4);
    std::memcpy(own.data() + range.to / 4, file.data() + range.begin / 4, range.bytes);
    moved += range.bytes;
  }
  EXPECT_EQ(moved, shard.bytes());
  return own;
}

void expect_own_elements(SavedTensor const& tensor, Ranges const& ranges) {
  std::vector<std::int32_t> expected;
  for (ElementRange const range : ranges)
    for (std::int64_t i = range.begin; i < range.end; ++i)
      expected.push_back(static_cast<std::int32_t>(i));
  ASSERT_EQ(carry_out(tensor, shard_of(ranges, tensor.shape)), expected);
}

/// Every set of ranges between whose borders lie the elements of a tensor: bit i of `pattern` says
/// whether element i is owned.
Ranges ranges_of(unsigned pattern, std::int64_t numel) {
  Ranges ranges;
  for (std::int64_t i = 0; i < numel; ++i) {
    if ((pattern >> i & 1U) == 0) continue;
    if (!ranges.empty() && ranges.back().end == i)
      ++ranges.back().end;
    else
      ranges.push_back({i, i + 1});
  }
  return ranges;
}

TEST(Reshard, EveryWorldReadsWhatEveryOtherSaved) {
  for (std::int64_t rows = 0; rows <= 9; ++rows) {
    for (int from = 1; from <= 8; ++from) {
      SavedTensor const tensor = saved_by(from, {rows, 3});
      check_cover(tensor, names);
      for (int to = 1; to <= 8; ++to)
        for (int rank = 0; rank < to; ++rank)
          expect_own_elements(tensor, owned_by(rank, to, {rows, 3}));
    }
  }
}

TEST(Reshard, RowsAreOneRangeAFile) {
  std::vector<ReadRange> ranges;
  Ranges const own = owned_by(0, 2, {10, 3});
  plan_reads(saved_by(4, {10, 3}), shard_of(own, {10, 3}), ranges);
  EXPECT_EQ(ranges, (std::vector<ReadRange>{{.file = 0, .begin = 0, .bytes = 36, .to = 0},
                                            {.file = 1, .begin = 0, .bytes = 24, .to = 36}}));
}

// What tensor parallelism leaves behind: boxes cut in two dimensions.
TEST(Reshard, BoxesCutInInnerDimensionsAreReadRunByRun) {
  Extents const shape = {4, 5, 6};
  std::vector<BoxInFile> boxes;
  for (std::int64_t const row : {0, 3})
    for (std::int64_t const column : {0, 2})
      boxes.push_back({.file = static_cast<int>(boxes.size()),
                       .offsets = {row, column, 0},
                       .shape = {row == 0 ? 3 : 1, column == 0 ? 2 : 3, 6}});
  SavedTensor const in_the_middle = tensor_of(shape, boxes);
  check_cover(in_the_middle, names);
  for (int to = 1; to <= 4; ++to)
    for (int rank = 0; rank < to; ++rank)
      expect_own_elements(in_the_middle, owned_by(rank, to, shape));
  for (BoxInFile& box : boxes) {
    box.shape = {box.shape[0], 5, box.shape[1] == 2 ? 4 : 2};
    box.offsets = {box.offsets[0], 0, box.offsets[1] == 0 ? 0 : 4};
  }
  SavedTensor const innermost = tensor_of(shape, boxes);
  check_cover(innermost, names);
  expect_own_elements(innermost, owned_by(0, 1, shape));
}

// Whatever a layout gives to a rank, also in the middle of rows: every subset of 3 x 4 elements,
// out of rows and out of columns.
TEST(Reshard, AnyRangesAreReadOutOfAnyBoxes) {
  SavedTensor const columns = tensor_of({3, 4}, {{0, {0, 0}, {3, 2}}, {1, {0, 2}, {3, 2}}});
  check_cover(columns, names);
  for (unsigned pattern = 0; pattern < 1U << 12; ++pattern) {
    Ranges const ranges = ranges_of(pattern, 12);
    expect_own_elements(saved_by(2, {3, 4}), ranges);
    expect_own_elements(columns, ranges);
  }
}

TEST(Reshard, AdjacentAndEmptyRangesAreNothingSpecial) {
  SavedTensor const tensor = saved_by(3, {4, 3});
  expect_own_elements(tensor, {{0, 2}, {2, 2}, {2, 5}, {7, 7}, {7, 12}, {12, 12}});
  expect_own_elements(tensor, {{5, 5}});
}

/// The elements of a box, ascending.
std::vector<std::int64_t> elements_of(Box const& box, std::vector<std::int64_t> const& shape) {
  std::int64_t const numel = numel_of(box.shape);
  std::vector<std::int64_t> elements;
  for (std::int64_t i = 0; i < numel; ++i) {
    std::int64_t rest = i;
    std::int64_t element = 0;
    std::int64_t stride = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      element += (rest % box.shape[d] + box.offsets[d]) * stride;
      rest /= box.shape[d];
      stride *= shape[d];
    }
    elements.push_back(element);
  }
  return elements;
}

/// Every box of a shape with up to three dimensions.
std::vector<Box> all_boxes(std::vector<std::int64_t> const& shape) {
  std::vector<Box> boxes = {{}};
  for (std::int64_t const extent : shape) {
    std::vector<Box> longer;
    for (Box const& box : boxes)
      for (std::int64_t begin = 0; begin < extent; ++begin)
        for (std::int64_t end = begin + 1; end <= extent; ++end) {
          longer.push_back(box);
          longer.back().offsets.push_back(begin);
          longer.back().shape.push_back(end - begin);
        }
    boxes = std::move(longer);
  }
  return boxes;
}

// Found by looking at all boxes of all shapes up to 4 x 3 x 3: a range has a box exactly where one
// of them has its elements.
TEST(Reshard, ARangeIsABoxExactlyWhereThereIsOne) {
  for (std::vector<std::int64_t> const& shape :
       {std::vector<std::int64_t>{5}, {4, 3}, {1, 4}, {2, 3, 2}, {4, 1, 3}, {3, 3, 3}, {4, 3, 3}}) {
    std::set<std::vector<std::int64_t>> of_boxes;
    for (Box const& box : all_boxes(shape)) of_boxes.insert(elements_of(box, shape));
    std::int64_t const numel = numel_of(shape);
    for (std::int64_t begin = 0; begin < numel; ++begin)
      for (std::int64_t end = begin + 1; end <= numel; ++end) {
        std::vector<std::int64_t> elements;
        for (std::int64_t i = begin; i < end; ++i) elements.push_back(i);
        auto const box = box_of({begin, end}, shape);
        ASSERT_EQ(box.has_value(), of_boxes.contains(elements)) << begin << ", " << end;
        if (!box) continue;
        ASSERT_EQ(elements_of(*box, shape), elements);
      }
  }
}

/// How many boxes a range takes at least: any of its beginnings that is a box, and the rest.
std::size_t fewest_boxes(ElementRange range, std::vector<std::int64_t> const& shape) {
  std::vector<std::size_t> fewest(static_cast<std::size_t>(range.numel()) + 1, 0);
  for (std::int64_t begin = range.end - 1; begin >= range.begin; --begin) {
    std::size_t& best = fewest[static_cast<std::size_t>(begin - range.begin)];
    best = static_cast<std::size_t>(range.numel());
    for (std::int64_t end = begin + 1; end <= range.end; ++end)
      if (box_of({begin, end}, shape))
        best = std::min(best, 1 + fewest[static_cast<std::size_t>(end - range.begin)]);
  }
  return fewest.front();
}

TEST(Reshard, ARangeIsCutIntoTheFewestBoxes) {
  for (std::vector<std::int64_t> const& shape :
       {std::vector<std::int64_t>{5}, {4, 3}, {1, 4}, {4, 1, 3}, {3, 1}, {4, 3, 3}, {2, 3, 2, 3}}) {
    std::int64_t const numel = numel_of(shape);
    for (std::int64_t begin = 0; begin < numel; ++begin)
      for (std::int64_t end = begin + 1; end <= numel; ++end) {
        std::vector<RangeAsBox> const boxes = boxes_of({begin, end}, shape);
        ASSERT_EQ(boxes.size(), fewest_boxes({begin, end}, shape)) << begin << ", " << end;
        std::int64_t next = begin;
        for (auto const& [range, box] : boxes) {
          ASSERT_EQ(range.begin, next);
          std::vector<std::int64_t> elements;
          for (; next < range.end; ++next) elements.push_back(next);
          ASSERT_EQ(elements_of(box, shape), elements);
        }
        ASSERT_EQ(next, end);
      }
  }
}

TEST(Reshard, NoElementsAreOneBox) {
  for (ElementRange const range : {ElementRange{0, 0}, {12, 12}}) {
    std::vector<RangeAsBox> const boxes = boxes_of(range, std::vector<std::int64_t>{4, 3});
    ASSERT_EQ(boxes.size(), 1U);
    EXPECT_EQ(boxes.front().box.shape, (std::vector<std::int64_t>{0, 3}));
  }
}

TEST(Reshard, RangesWithoutElementsAreBoxesOfNone) {
  EXPECT_EQ(box_of({12, 12}, std::vector<std::int64_t>{4, 3})->offsets,
            (std::vector<std::int64_t>{4, 0}));
  EXPECT_EQ(box_of({12, 12}, std::vector<std::int64_t>{4, 3})->shape,
            (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(box_of({0, 0}, std::vector<std::int64_t>{4, 0})->shape,
            (std::vector<std::int64_t>{4, 0}));
}

std::string refusal(SavedTensor const& tensor) {
  try {
    check_cover(tensor, names);
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

TEST(Reshard, HolesAreRefusedByName) {
  std::vector<BoxInFile> tail = boxes_by(4, {10, 3});
  tail.pop_back();
  EXPECT_EQ(refusal(tensor_of({10, 3}, tail)),
            "tensor t: 27 of 30 elements of [10, 3] are saved; the first that is missing is in row "
            "9: is a file missing?");
  std::vector<BoxInFile> middle = boxes_by(4, {10, 3});
  middle.erase(middle.begin() + 1);
  EXPECT_NE(refusal(tensor_of({10, 3}, middle)).find("missing is in row 3"), std::string::npos);
}

TEST(Reshard, OverlapsAreRefusedByName) {
  std::vector<BoxInFile> boxes = boxes_by(4, {10, 3});
  boxes.push_back({.file = 7, .offsets = {5, 0}, .shape = {2, 3}});
  EXPECT_EQ(refusal(tensor_of({10, 3}, boxes)),
            "tensor t: the parts in f1 ([3, 3] at [3, 0]) and f7 ([2, 3] at [5, 0]) overlap: is a "
            "file left over from another save?");
  // An overlap as large as the hole beside it: the sizes add up.
  std::vector<BoxInFile> shifted = boxes_by(2, {4, 1});
  shifted[1].offsets[0] = 1;
  EXPECT_NE(refusal(tensor_of({4, 1}, shifted)).find("overlap"), std::string::npos);
}

TEST(Reshard, PartsOutsideTheWholeAreRefused) {
  std::vector<BoxInFile> boxes = boxes_by(2, {4, 3});
  boxes[1].offsets[0] = 3;
  EXPECT_NE(refusal(tensor_of({4, 3}, boxes)).find("lies outside the whole [4, 3]"),
            std::string::npos);
}

TEST(Reshard, PartsWithoutElementsDoNotMatter) {
  std::vector<BoxInFile> boxes = boxes_by(8, {3, 2});
  check_cover(tensor_of({3, 2}, boxes), names);
  boxes.push_back(boxes.back());
  check_cover(tensor_of({3, 2}, boxes), names);
  boxes.insert(boxes.begin(), boxes.back());
  check_cover(tensor_of({3, 2}, boxes), names);
  expect_own_elements(tensor_of({3, 2}, boxes), {{0, 6}});
}

}  // namespace
}  // namespace adamant::real
