#include "real/cuda/lanes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

namespace adamant::real {
namespace {

constexpr std::int64_t far = (std::int64_t{1} << 31) + lanes;  // elements

/// Room for far more numbers than an int counts, of which only touched pages cost memory.
class LargeRoom {
 public:
  LargeRoom()
      : data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  LargeRoom(LargeRoom const&) = delete;
  LargeRoom& operator=(LargeRoom const&) = delete;
  ~LargeRoom() { ::munmap(data_, bytes); }

  bool is_there() const { return data_ != MAP_FAILED; }
  Numbers numbers(NumberFormat format) const { return {.data = data_, .format = format}; }

 private:
  static constexpr std::size_t bytes = (far + 2 * lanes) * sizeof(float);
  void* data_;
};

class FarLanes : public ::testing::TestWithParam<NumberFormat> {
 protected:
  void SetUp() override { ASSERT_TRUE(room_.is_there()); }
  Numbers numbers() const { return room_.numbers(GetParam()); }

 private:
  LargeRoom room_;
};

TEST_P(FarLanes, AreStoredAndLoadedWhereTheyAre) {
  for (int const count : {lanes, lanes - 3}) {
    std::vector<float> values;
    for (int k = 0; k < lanes; ++k) values.push_back(static_cast<float>(count + k));
    Lanes const at{.begin = far, .count = count};
    store(values.data(), numbers(), at);
    std::vector<float> loaded(lanes, -1.0F);
    load(numbers(), at, loaded.data());
    for (int k = 0; k < count; ++k) {
      EXPECT_EQ(loaded[static_cast<std::size_t>(k)], static_cast<float>(count + k));
      EXPECT_EQ(number_at(numbers(), far + k), static_cast<float>(count + k));
    }
  }
}

TEST_P(FarLanes, SingleNumbersAreWhereTheyAre) {
  store_number(numbers(), far, 3.0F);
  EXPECT_EQ(number_at(numbers(), far), 3.0F);
  EXPECT_EQ(number_at(numbers(), far - 1), 0.0F);
  EXPECT_EQ(number_at(numbers(), far + 1), 0.0F);
}

INSTANTIATE_TEST_SUITE_P(Formats, FarLanes,
                         ::testing::Values(NumberFormat::fp32, NumberFormat::bf16,
                                           NumberFormat::fp16),
                         [](auto const& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace adamant::real
