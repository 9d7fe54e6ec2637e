#include "real/checkpoint/reshard.h"

#include <gtest/gtest.h>

#include <cstring>

#include "real/checkpoint/checkpoint_error.h"
#include "real/shard/layout.h"

namespace adamant::real {
namespace {

std::vector<std::string> const names = {"f0", "f1", "f2", "f3", "f4", "f5", "f6", "f7"};

/// The saved tensor of a world: one box a rank, each at the start of its own file.
SavedTensor saved_by(int world_size, std::vector<std::int64_t> const& shape) {
  SavedTensor tensor{.key = "t", .dtype = "F32", .shape = shape, .boxes = {}};
  ParameterSpec spec;
  spec.shape = shape;
  for (int rank = 0; rank < world_size; ++rank) {
    Layout const layout(std::span(&spec, 1), {.rank = rank, .world_size = world_size});
    SavedBox box{.file = rank, .offsets = {}, .shape = shape, .begin = 0};
    box.offsets.assign(shape.size(), 0);
    box.offsets[0] = layout[0].row_begin;
    box.shape[0] = layout[0].row_end - layout[0].row_begin;
    tensor.boxes.push_back(box);
  }
  return tensor;
}

ShardDescription shard_of(int rank, int world_size, std::vector<std::int64_t> const& shape) {
  ParameterSpec spec;
  spec.shape = shape;
  Layout const layout(std::span(&spec, 1), {.rank = rank, .world_size = world_size});
  return {.key = "t",
          .format = NumberFormat::fp32,
          .global_shape = shape,
          .row_begin = layout[0].row_begin,
          .row_end = layout[0].row_end,
          .data = nullptr,
          .on_host = false};
}

/// The files' content where the element with row-major index i has value i.
std::vector<std::vector<std::int32_t>> files_of(SavedTensor const& tensor) {
  std::vector<std::vector<std::int32_t>> files(names.size());
  for (SavedBox const& box : tensor.boxes) {
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

void expect_own_rows(SavedTensor const& tensor, ShardDescription const& shard) {
  std::vector<std::int32_t> const own = carry_out(tensor, shard);
  for (std::size_t i = 0; i < own.size(); ++i)
    ASSERT_EQ(own[i], shard.row_begin * shard.row_numel() + static_cast<std::int64_t>(i));
}

TEST(Reshard, EveryWorldReadsWhatEveryOtherSaved) {
  for (std::int64_t rows = 0; rows <= 9; ++rows) {
    for (int from = 1; from <= 8; ++from) {
      SavedTensor const tensor = saved_by(from, {rows, 3});
      check_cover(tensor, names);
      for (int to = 1; to <= 8; ++to)
        for (int rank = 0; rank < to; ++rank)
          expect_own_rows(tensor, shard_of(rank, to, {rows, 3}));
    }
  }
}

TEST(Reshard, RowsAreOneRangeAFile) {
  std::vector<ReadRange> ranges;
  plan_reads(saved_by(4, {10, 3}), shard_of(0, 2, {10, 3}), ranges);
  EXPECT_EQ(ranges, (std::vector<ReadRange>{{.file = 0, .begin = 0, .bytes = 36, .to = 0},
                                            {.file = 1, .begin = 0, .bytes = 24, .to = 36}}));
}

// What tensor parallelism leaves behind: boxes cut in two dimensions.
TEST(Reshard, BoxesCutInInnerDimensionsAreReadRunByRun) {
  SavedTensor tensor{.key = "t", .dtype = "F32", .shape = {4, 5, 6}, .boxes = {}};
  int file = 0;
  for (std::int64_t const row : {0, 3})
    for (std::int64_t const column : {0, 2})
      tensor.boxes.push_back({.file = file++,
                              .offsets = {row, column, 0},
                              .shape = {row == 0 ? 3 : 1, column == 0 ? 2 : 3, 6},
                              .begin = 0});
  check_cover(tensor, names);
  for (int to = 1; to <= 4; ++to)
    for (int rank = 0; rank < to; ++rank) expect_own_rows(tensor, shard_of(rank, to, {4, 5, 6}));
  for (SavedBox& box : tensor.boxes) {
    box.shape = {box.shape[0], 5, box.shape[1] == 2 ? 4 : 2};
    box.offsets = {box.offsets[0], 0, box.offsets[1] == 0 ? 0 : 4};
  }
  check_cover(tensor, names);
  expect_own_rows(tensor, shard_of(0, 1, {4, 5, 6}));
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
  SavedTensor tail = saved_by(4, {10, 3});
  tail.boxes.pop_back();
  EXPECT_EQ(refusal(tail),
            "tensor t: 27 of 30 elements of [10, 3] are saved; the first that is missing is in row "
            "9: is a file missing?");
  SavedTensor middle = saved_by(4, {10, 3});
  middle.boxes.erase(middle.boxes.begin() + 1);
  EXPECT_NE(refusal(middle).find("missing is in row 3"), std::string::npos);
}

TEST(Reshard, OverlapsAreRefusedByName) {
  SavedTensor tensor = saved_by(4, {10, 3});
  tensor.boxes.push_back({.file = 7, .offsets = {5, 0}, .shape = {2, 3}, .begin = 0});
  EXPECT_EQ(refusal(tensor),
            "tensor t: the parts in f1 ([3, 3] at [3, 0]) and f7 ([2, 3] at [5, 0]) overlap: is a "
            "file left over from another save?");
  // An overlap as large as the hole beside it: the sizes add up.
  SavedTensor shifted = saved_by(2, {4, 1});
  shifted.boxes[1].offsets[0] = 1;
  EXPECT_NE(refusal(shifted).find("overlap"), std::string::npos);
}

TEST(Reshard, PartsOutsideTheWholeAreRefused) {
  SavedTensor tensor = saved_by(2, {4, 3});
  tensor.boxes[1].offsets[0] = 3;
  EXPECT_NE(refusal(tensor).find("lies outside the whole [4, 3]"), std::string::npos);
}

TEST(Reshard, PartsWithoutElementsDoNotMatter) {
  SavedTensor tensor = saved_by(8, {3, 2});
  check_cover(tensor, names);
  tensor.boxes.push_back(tensor.boxes.back());
  check_cover(tensor, names);
}

}  // namespace
}  // namespace adamant::real
