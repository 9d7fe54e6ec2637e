#include "real/checkpoint/saved_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/reshard.h"
#include "real/testing/saved_tensors.h"

namespace adamant::real {
namespace {

constexpr std::uint64_t element_bytes = 4;
using Extents = std::vector<std::int64_t>;
using Ranges = std::vector<ElementRange>;

/// Small numbers that look arbitrary and are the same everywhere (Knuth's MMIX generator).
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}
  /// In [0, count).
  std::int64_t below(std::int64_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::int64_t>((state_ >> 33) % static_cast<std::uint64_t>(count));
  }

 private:
  std::uint64_t state_;
};

/// Cuts a box in two at a place and in a dimension of its own, again and again.
void cut(BoxInFile const& box, int depth, Draws& draws, std::vector<BoxInFile>& parts) {
  auto const d = static_cast<std::size_t>(draws.below(std::ssize(box.shape)));
  if (depth == 0 || draws.below(4) == 0) {
    parts.push_back(box);
    return;
  }
  std::int64_t const at = draws.below(box.shape[d] + 1);
  BoxInFile low = box;
  BoxInFile high = box;
  low.shape[d] = at;
  high.shape[d] -= at;
  high.offsets[d] += at;
  cut(low, depth - 1, draws, parts);
  cut(high, depth - 1, draws, parts);
}

/// Two boxes to a file, in an order that is nobody's.
SavedTensor cut_at_random(Extents const& shape, Draws& draws) {
  std::vector<BoxInFile> boxes;
  cut({.offsets = Extents(shape.size(), 0), .shape = shape}, 4, draws, boxes);
  for (std::size_t i = boxes.size(); i > 1; --i)
    std::swap(boxes[i - 1],
              boxes[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(i)))]);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    boxes[i].file = static_cast<int>(i / 2);
    boxes[i].begin = 64;
    if (i % 2 == 1)
      boxes[i].begin += element_bytes * static_cast<std::uint64_t>(numel_of(boxes[i - 1].shape));
  }
  SavedTensor tensor = tensor_of(shape, boxes);
  find_runs(tensor);
  return tensor;
}

/// Where one element is saved.
struct Address {
  int file = -1;
  std::uint64_t begin = 0;
  friend bool operator==(Address const&, Address const&) = default;
};

/// By looking at each element of each box.
std::vector<Address> addresses_of(SavedTensor const& tensor) {
  std::vector<Address> addresses(static_cast<std::size_t>(tensor.numel()));
  for (SavedBox const box : tensor.boxes)
    for (std::int64_t i = 0; i < box.numel(); ++i) {
      std::int64_t rest = i;
      std::int64_t element = 0;
      std::int64_t stride = 1;
      for (std::size_t d = box.shape.size(); d-- > 0;) {
        element += (rest % box.shape[d] + box.offsets[d]) * stride;
        rest /= box.shape[d];
        stride *= tensor.shape[d];
      }
      addresses[static_cast<std::size_t>(element)] = {
          box.file, box.begin + static_cast<std::uint64_t>(i) * element_bytes};
    }
  return addresses;
}

/// Where a plan gets each element of a shard from; every one once.
std::vector<Address> carried_out(std::span<ReadRange const> plan, std::int64_t numel) {
  std::vector<Address> own(static_cast<std::size_t>(numel));
  for (ReadRange const& read : plan) {
    EXPECT_EQ(read.to % element_bytes, 0U);
    for (std::uint64_t byte = 0; byte < read.bytes; byte += element_bytes) {
      Address& address = own.at((read.to + byte) / element_bytes);
      EXPECT_EQ(address.file, -1) << "written twice";
      address = {read.file, read.begin + byte};
    }
  }
  return own;
}

std::vector<Address> expected_of(std::vector<Address> const& addresses, Ranges const& ranges) {
  std::vector<Address> expected;
  for (ElementRange const range : ranges)
    expected.insert(expected.end(), addresses.begin() + range.begin, addresses.begin() + range.end);
  return expected;
}

std::vector<ReadRange> plan_of(SavedTensor const& tensor, Ranges const& ranges) {
  std::vector<ReadRange> plan;
  plan_reads(tensor, {.key = "t", .global_shape = tensor.shape, .ranges = ranges}, plan);
  return plan;
}

/// Pieces of one shard where they go.
std::vector<ReadRange> in_place(std::span<ReadPiece const> pieces) {
  std::vector<ReadRange> reads;
  std::uint64_t to = 0;
  for (ReadPiece const& piece : pieces) {
    reads.push_back({.file = piece.file, .begin = piece.begin, .bytes = piece.bytes, .to = to});
    to += piece.bytes;
  }
  return reads;
}

/// A few that ascend, some of them empty, some side by side.
Ranges random_ranges(std::int64_t numel, Draws& draws) {
  Extents borders;
  for (std::int64_t count = 2 * draws.below(6); count > 0; --count)
    borders.push_back(draws.below(numel + 1));
  std::sort(borders.begin(), borders.end());
  Ranges ranges;
  for (std::size_t i = 0; i < borders.size(); i += 2)
    ranges.push_back({borders[i], borders[i + 1]});
  return ranges;
}

/// What ranks own of `whole`: ceil(n / count) rows each, in order, as long as there are any.
Ranges rows_of_ranks(ElementRange whole, std::int64_t row, std::int64_t count) {
  std::int64_t const rows = whole.numel() / row;
  std::int64_t const each = (rows + count - 1) / count;
  Ranges own;
  for (std::int64_t rank = 0; rank < count; ++rank)
    own.push_back({whole.begin + std::min(rows, rank * each) * row,
                   whole.begin + std::min(rows, (rank + 1) * each) * row});
  return own;
}

/// A mesh that cuts states across replicas as well, the rule applied twice; in the tensor's order.
Ranges rows_of_mesh(std::int64_t numel, std::int64_t row, std::int64_t shards,
                    std::int64_t replicas) {
  Ranges own;
  for (ElementRange const of_shard : rows_of_ranks({0, numel}, row, shards))
    for (ElementRange const of_replica : rows_of_ranks(of_shard, row, replicas))
      own.push_back(of_replica);
  return own;
}

Extents random_shape(Draws& draws) {
  Extents shape;
  for (std::int64_t d = draws.below(3); d >= 0; --d) shape.push_back(1 + draws.below(7));
  return shape;
}

// 2,000 tensors of up to three dimensions in up to 16 boxes, runs or not, against a look at every
// element.
TEST(SavedRuns, APlanBringsEveryElementOnceFromWhereItIs) {
  Draws draws(1);
  int with_runs = 0;
  for (int i = 0; i < 2000; ++i) {
    SavedTensor const tensor = cut_at_random(random_shape(draws), draws);
    with_runs += tensor.runs.empty() ? 0 : 1;
    auto const addresses = addresses_of(tensor);
    Ranges const own = random_ranges(tensor.numel(), draws);
    std::vector<ReadRange> const plan = plan_of(tensor, own);
    ASSERT_EQ(carried_out(plan, numel_of(own)), expected_of(addresses, own)) << "tensor " << i;
  }
  EXPECT_GT(with_runs, 400);
  EXPECT_LT(with_runs, 1600);
}

/// Also with boxes that are no runs: of these everybody plans alone.
TEST(SavedRuns, EveryMeshReadsWhatAnyBoxesHold) {
  Draws draws(2);
  for (int i = 0; i < 500; ++i) {
    SavedTensor const tensor = cut_at_random(random_shape(draws), draws);
    auto const addresses = addresses_of(tensor);
    std::int64_t const row = tensor.numel() / tensor.shape[0];
    for (ElementRange const own :
         rows_of_mesh(tensor.numel(), row, 1 + draws.below(5), 1 + draws.below(3)))
      ASSERT_EQ(carried_out(plan_of(tensor, {own}), own.numel()), expected_of(addresses, {own}));
  }
}

TEST(SavedRuns, ThePlanOfAllIsThatOfEach) {
  Draws draws(3);
  for (int i = 0; i < 500; ++i) {
    SavedTensor const tensor = cut_at_random({1 + draws.below(40)}, draws);
    ASSERT_FALSE(tensor.runs.empty());
    Ranges const own = draws.below(2) == 0 ? random_ranges(tensor.numel(), draws)
                                           : rows_of_mesh(tensor.numel(), 1, 5, 3);
    std::vector<ReadPiece> all(own.size() + tensor.runs.places().size());
    std::vector<std::size_t> first(own.size() + 1);
    plan_reads_of_all(tensor.runs, own, element_bytes, all, first);
    for (std::size_t r = 0; r < own.size(); ++r)
      ASSERT_EQ(in_place(std::span(all).subspan(first[r], first[r + 1] - first[r])),
                plan_of(tensor, {own[r]}));
  }
}

TEST(SavedRuns, BoxesThatDoNotTileHaveNone) {
  auto const has_runs = [](std::vector<BoxInFile> const& boxes) {
    SavedTensor tensor = tensor_of({4, 3}, boxes);
    find_runs(tensor);
    return !tensor.runs.empty();
  };
  std::vector<BoxInFile> const whole = {
      {0, {0, 0}, {1, 3}}, {1, {1, 0}, {2, 3}}, {2, {3, 0}, {1, 3}}};
  EXPECT_TRUE(has_runs(whole));
  std::vector<BoxInFile> hole = whole;
  hole.erase(hole.begin() + 1);
  EXPECT_FALSE(has_runs(hole));
  std::vector<BoxInFile> tail = whole;
  tail.pop_back();
  EXPECT_FALSE(has_runs(tail));
  std::vector<BoxInFile> twice = whole;
  twice.push_back(twice.front());
  EXPECT_FALSE(has_runs(twice));
  std::vector<BoxInFile> outside = whole;
  outside.back().shape[0] = 2;
  EXPECT_FALSE(has_runs(outside));
  EXPECT_FALSE(has_runs({{0, {0, 0}, {4, 1}}, {1, {0, 1}, {4, 2}}}));
  // As many elements as runs that tile would have, but column 0 of the last rows is there twice.
  EXPECT_FALSE(has_runs({{0, {0, 0}, {4, 1}}, {1, {1, 1}, {1, 2}}, {2, {2, 0}, {2, 3}}}));
}

// Runs are found of what is there: a tensor that got another box after that is planned by its boxes
// once they are looked for again.
TEST(SavedRuns, AreForgottenWhereBoxesStopBeingRuns) {
  SavedTensor tensor = tensor_of({2}, {{0, {0}, {1}}, {1, {1}, {1}}});
  find_runs(tensor);
  ASSERT_FALSE(tensor.runs.empty());
  tensor.boxes.add(tensor_of({2}, {{1, {1}, {1}}}).boxes.front());
  find_runs(tensor);
  EXPECT_TRUE(tensor.runs.empty());
  EXPECT_THROW(check_cover(tensor, std::vector<std::string>{"a", "b"}), CheckpointError);
}

}  // namespace
}  // namespace adamant::real
