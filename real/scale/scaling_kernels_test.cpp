#include "real/scale/scaling_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "real/cuda/error.h"
#include "real/shard/memory.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;
using Words = std::array<Word, word_count>;

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// Small arrays on their way to a device and back.
class Bench {
 public:
  template <typename T>
  DeviceBuffer device(std::vector<T> const& values) {
    DeviceBuffer buffer(ledger_, Purpose::scaling, values.size() * sizeof(T), stream);
    if (values.empty()) return buffer;
    ADAMANT_TRY(cudaMemcpyAsync(buffer.as<void>(), values.data(), buffer.bytes(),
                                cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
    return buffer;
  }

  template <typename T>
  std::vector<T> host(DeviceBuffer const& buffer) {
    std::vector<T> values(buffer.bytes() / sizeof(T));
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), buffer.as<void>(), buffer.bytes(),
                                cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return values;
  }

  GradientPart part(Values const& values, NumberFormat format = NumberFormat::fp32) {
    kept_.push_back(device(encoded(values, format)));
    return {.values = {kept_.back().as<void>(), format},
            .numel = static_cast<std::int64_t>(values.size())};
  }

  /// All but the first of them, which lie where no 16-byte access may begin.
  GradientPart part_within(Values const& values, NumberFormat format) {
    GradientPart whole = part(values, format);
    whole.values.data = static_cast<std::byte*>(whole.values.data) + bytes_of(format);
    --whole.numel;
    return whole;
  }

  std::vector<std::int32_t> look(std::vector<GradientPart> const& parts, int blocks) {
    DeviceBuffer const flags =
        device(std::vector<std::int32_t>(static_cast<std::size_t>(blocks), 7));
    launch_look(parts, blocks, flags.as<std::int32_t>(), stream);
    return host<std::int32_t>(flags);
  }

  /// The words of all blocks together, carried.
  Words squares(std::vector<GradientPart> const& parts, int blocks, float inverse = 1) {
    DeviceBuffer const factor = device(Values{inverse});
    DeviceBuffer const words =
        device(std::vector<Word>(static_cast<std::size_t>(blocks * word_count), 9));
    launch_squares(parts,
                   {.words = words.as<Word>(), .inverse = factor.as<float>(), .blocks = blocks},
                   stream);
    Words sum = {};
    auto const all = host<Word>(words);
    for (std::size_t i = 0; i < all.size(); ++i) sum[i % word_count] += all[i];
    carry(sum.data());
    return sum;
  }

  Stream stream;

 private:
  Ledger ledger_;
  std::vector<DeviceBuffer> kept_;
};

Words expected_squares(Values const& values) {
  Words words = {};
  for (float const x : values) {
    SquareParts const square = square_parts(x);
    for (int i = 0; i < 3; ++i) words[static_cast<std::size_t>(square.limb + i)] += square.parts[i];
  }
  carry(words.data());
  return words;
}

/// Numbers of every magnitude, subnormal ones among them; exact in every format they are used with.
Values wide_values(int count) {
  Values values;
  for (int i = 0; i < count; ++i)
    values.push_back(std::ldexp(i % 2 == 0 ? 1.5F : -1.25F, (i * 37) % 270 - 148));
  return values;
}

Values narrow_values(int count) {
  Values values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 17 - 8) / 64);
  return values;
}

void on_one_device(std::function<void(Bench&)> const& body) {
  run_ranks(1, Devices::shared, [&](RankContext const&) {
    Bench bench;
    body(bench);
  });
}

class ScalingKernels : public testing::Test {
 protected:
  void SetUp() override { ADAMANT_NEEDS(1, Devices::shared); }
};

TEST_F(ScalingKernels, LookFindsOneNumberInAnyPart) {
  on_one_device([](Bench& bench) {
    EXPECT_EQ(bench.look({}, 3), (std::vector<std::int32_t>{0, 0, 0}));
    for (float const bad : {nan, infinity, -infinity})
      for (std::size_t const at : {0U, 50U, 99U}) {
        Values values = wide_values(100);
        auto const good = bench.part(values);
        EXPECT_EQ(bench.look({good, good}, 2), (std::vector<std::int32_t>{0, 0}));
        values[at] = bad;
        auto const flags = bench.look({good, bench.part(values), good}, 2);
        EXPECT_EQ(flags[0] + flags[1], 1) << bad << " at " << at;
      }
  });
}

TEST_F(ScalingKernels, LookKnowsTheFormats) {
  on_one_device([](Bench& bench) {
    for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16}) {
      EXPECT_EQ(bench.look({bench.part({1, 2, 65504}, format)}, 1)[0], 0);
      EXPECT_EQ(bench.look({bench.part({1, 2, infinity}, format)}, 1)[0], 1);
      EXPECT_EQ(bench.look({bench.part({nan}, format)}, 1)[0], 1);
    }
    EXPECT_EQ(bench.look({bench.part({65536}, NumberFormat::fp16)}, 1)[0], 1);  // too large for it
  });
}

TEST_F(ScalingKernels, LookFindsWhatLiesInBetween) {
  on_one_device([](Bench& bench) {
    for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16}) {
      Values values(30, 1);
      values[0] = nan;  // no part of it
      EXPECT_EQ(bench.look({bench.part_within(values, format)}, 1)[0], 0);
      for (std::size_t at = 1; at < values.size(); ++at) {
        Values one_bad = values;
        one_bad[at] = infinity;
        EXPECT_EQ(bench.look({bench.part_within(one_bad, format)}, 1)[0], 1) << at;
      }
    }
  });
}

// More parts than one launch takes, and a bad number in the first of them.
TEST_F(ScalingKernels, LookRemembersOverLaunches) {
  on_one_device([](Bench& bench) {
    std::vector<GradientPart> parts(80, bench.part({1, 2, 3}));
    parts[0] = bench.part({nan});
    EXPECT_EQ(bench.look(parts, 1)[0], 1);
  });
}

TEST_F(ScalingKernels, SquaresAreThoseOfAnyNumberOfBlocksAndParts) {
  on_one_device([](Bench& bench) {
    Values const values = wide_values(1003);
    Words const expected = expected_squares(values);
    for (int const blocks : {1, 2, 7, 64})
      EXPECT_EQ(bench.squares({bench.part(values)}, blocks), expected) << blocks;
    std::vector<GradientPart> parts;
    for (std::size_t i = 0; i < values.size(); i += 17)
      parts.push_back(bench.part(
          {values.begin() + static_cast<std::ptrdiff_t>(i),
           values.begin() + static_cast<std::ptrdiff_t>(std::min(i + 17, values.size()))}));
    EXPECT_EQ(bench.squares(parts, 3), expected);
  });
}

TEST_F(ScalingKernels, SquaresOfNothingAreZero) {
  on_one_device([](Bench& bench) {
    EXPECT_EQ(bench.squares({}, 2), Words());
    EXPECT_EQ(bench.squares({bench.part({})}, 2), Words());
  });
}

TEST_F(ScalingKernels, SquaresAreTakenOfWhatWasUnscaled) {
  on_one_device([](Bench& bench) {
    Values const values = narrow_values(100);
    Values unscaled;
    for (float const x : values) unscaled.push_back(x * 0.3F);
    EXPECT_EQ(bench.squares({bench.part(values)}, 2, 0.3F), expected_squares(unscaled));
    for (NumberFormat const format : {NumberFormat::bf16, NumberFormat::fp16})
      EXPECT_EQ(bench.squares({bench.part(values, format)}, 2, 0.3F), expected_squares(unscaled));
  });
}

TEST_F(ScalingKernels, SquaresAreThoseOfPartsThatBeginInBetween) {
  on_one_device([](Bench& bench) {
    Values const values = narrow_values(103);
    Values const own(values.begin() + 1, values.end());
    for (NumberFormat const format : {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16})
      EXPECT_EQ(bench.squares({bench.part_within(values, format)}, 2), expected_squares(own));
  });
}

// Zeros times it would be no numbers: behind the last element there are none.
TEST_F(ScalingKernels, SquaresOfAnInfiniteFactorCountElementsAlone) {
  on_one_device([](Bench& bench) {
    Words const words = bench.squares({bench.part({1, 2, 3})}, 1, infinity);
    EXPECT_EQ(words[nan_word], 0U);
    EXPECT_EQ(words[infinity_word], 3U);
  });
}

// So often that the lower halves of the words overflow.
TEST_F(ScalingKernels, SquaresAddUpOverManyParts) {
  on_one_device([](Bench& bench) {
    std::vector<GradientPart> const parts(100, bench.part(wide_values(540)));
    Words expected = expected_squares(wide_values(540));
    for (Word& word : expected) word *= parts.size();
    carry(expected.data());
    EXPECT_EQ(bench.squares(parts, 2), expected);
  });
}

TEST_F(ScalingKernels, SquaresCountWhatIsNoNumber) {
  on_one_device([](Bench& bench) {
    Words const words = bench.squares({bench.part({1, nan, infinity, -infinity, 2})}, 2);
    EXPECT_EQ(words[nan_word], 1U);
    EXPECT_EQ(words[infinity_word], 2U);
  });
}

/// The state after some verdicts, given by the flags of two blocks.
ScalingState decided(Bench& bench, LossScale const& setting,
                     std::vector<std::vector<std::int32_t>> const& steps) {
  DeviceBuffer const state = bench.device(std::vector<ScalingState>(1));
  launch_new_scale(setting, state.as<ScalingState>(), bench.stream);
  for (auto const& flags : steps) {
    DeviceBuffer const on_device = bench.device(flags);
    launch_decide({on_device.as<std::int32_t>(), flags.size()}, state.as<ScalingState>(),
                  bench.stream);
  }
  return bench.host<ScalingState>(state).front();
}

constexpr LossScale dynamic = {.kind = LossScale::Kind::dynamic};

TEST_F(ScalingKernels, AFixedScaleDecidesAndStays) {
  on_one_device([](Bench& bench) {
    LossScale const fixed = {.kind = LossScale::Kind::fixed, .value = 3.0F};
    ScalingState const skipped = decided(bench, fixed, {{0, 0}, {0, 1}});
    EXPECT_EQ(skipped.overflowed, 1);
    EXPECT_EQ(skipped.scale, 3.0F);
    EXPECT_EQ(skipped.applied, 0x1.555556p-2F);
    EXPECT_EQ(decided(bench, fixed, {{1, 0}, {0, 0}}).overflowed, 0);
  });
}

TEST_F(ScalingKernels, ADynamicScaleBacksOffAfterTheSecondOverflow) {
  on_one_device([](Bench& bench) {
    EXPECT_EQ(decided(bench, dynamic, {}).scale, 0x1p32F);
    EXPECT_EQ(decided(bench, dynamic, {{1}}).scale, 0x1p32F);
    ScalingState const second = decided(bench, dynamic, {{1}, {0}, {1}});
    EXPECT_EQ(second.scale, 0x1p31F);
    EXPECT_EQ(second.inverse, 0x1p-31F);
    EXPECT_EQ(second.applied, 0x1p-32F);  // what the skipped step would have used
    EXPECT_EQ(decided(bench, dynamic, {40, {1}}).scale, 1.0F);
  });
}

TEST_F(ScalingKernels, ADynamicScaleGrowsAfterAThousandGoodSteps) {
  on_one_device([](Bench& bench) {
    std::vector<std::vector<std::int32_t>> steps(1000, {0});
    ScalingState const grown = decided(bench, dynamic, steps);
    EXPECT_EQ(grown.scale, 0x1p33F);
    EXPECT_EQ(grown.hysteresis, 2);
    EXPECT_EQ(grown.growth_tracker, 0);
    steps.pop_back();
    EXPECT_EQ(decided(bench, dynamic, steps).scale, 0x1p32F);
  });
}

ScalingState clipped(Bench& bench, Values const& values, float max_norm, int blocks = 2) {
  auto const part = bench.part(values);
  DeviceBuffer const one = bench.device(Values{1});
  DeviceBuffer const words =
      bench.device(std::vector<Word>(static_cast<std::size_t>(blocks * word_count)));
  DeviceBuffer const state = bench.device(std::vector<ScalingState>(1));
  launch_squares({&part, 1},
                 {.words = words.as<Word>(), .inverse = one.as<float>(), .blocks = blocks},
                 bench.stream);
  launch_max_norm(max_norm, state.as<ScalingState>(), bench.stream);
  launch_norm({.words = words.as<Word>(), .blocks = blocks}, state.as<ScalingState>(),
              bench.stream);
  return bench.host<ScalingState>(state).front();
}

TEST_F(ScalingKernels, TheNormAndItsCoefficient) {
  on_one_device([](Bench& bench) {
    ScalingState const five = clipped(bench, {3, -4}, 1);
    EXPECT_EQ(five.norm, 5.0F);
    EXPECT_EQ(five.coefficient, 1.0F / (5.0F + 1e-6F));
    EXPECT_EQ(clipped(bench, {3, -4}, 6).coefficient, 1.0F);
    EXPECT_EQ(clipped(bench, {}, 1).coefficient, 1.0F);
    EXPECT_EQ(clipped(bench, {infinity}, 1).coefficient, 0.0F);
    EXPECT_EQ(clipped(bench, {-infinity, 1}, 1).norm, infinity);
    EXPECT_TRUE(std::isnan(clipped(bench, {infinity, nan}, 1).coefficient));
    EXPECT_EQ(clipped(bench, Values(4096, 0x1p-149F), 1).norm, 0x1p-143F);
  });
}

TEST_F(ScalingKernels, AForgottenNormLeavesTheSettingAndNothingElse) {
  on_one_device([](Bench& bench) {
    ScalingState const before = {.scale = 8, .norm = 5, .coefficient = 0.25F, .max_norm = 2};
    DeviceBuffer const state = bench.device(std::vector<ScalingState>{before});
    launch_forget_norm(state.as<ScalingState>(), bench.stream);
    ScalingState const after = bench.host<ScalingState>(state).front();
    EXPECT_EQ(after.norm, 0.0F);
    EXPECT_EQ(after.coefficient, 1.0F);
    EXPECT_EQ(after.max_norm, 2.0F);
    EXPECT_EQ(after.scale, 8.0F);
  });
}

}  // namespace
}  // namespace adamant::real
