#include "real/step/adam_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "real/cuda/error.h"
#include "real/shard/memory.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Values = std::vector<float>;

/// Flat state of a few parameters on the device, and how to step it either way.
class Problem {
 public:
  Problem(std::vector<ParameterSpec> specs, Stream const& stream)
      : layout_(specs, {}), pieces_(make_work_list(layout_, Split(layout_))), stream_(stream) {
    for (DeviceBuffer& buffer : state_)
      buffer = DeviceBuffer(ledger_, Purpose::parameters, layout_.flat_bytes(TensorKind::parameter),
                            stream);
    pieces_on_device_ =
        DeviceBuffer(ledger_, Purpose::work_list, pieces_.size() * sizeof(WorkPiece), stream);
    upload(pieces_on_device_, pieces_.data());
  }

  Layout const& layout() const { return layout_; }
  std::int64_t flat_numel() const {
    return static_cast<std::int64_t>(layout_.flat_bytes(TensorKind::parameter) / sizeof(float));
  }

  /// Order: parameters, gradients, exp_avg, exp_avg_sq.
  void write(int which, Values const& values) {
    upload(state_[static_cast<std::size_t>(which)], values.data());
  }
  Values read(int which) const {
    return download(state_[static_cast<std::size_t>(which)].as<float>(), flat_numel(),
                    stream_.get());
  }

  void fused(std::vector<StepScalars> const& rows) {
    DeviceBuffer table(ledger_, Purpose::step_table, rows.size() * sizeof(StepScalars), stream_);
    upload(table, rows.data());
    launch_adam({.parameters = state_[0].as<std::byte>(),
                 .gradients = state_[1].as<std::byte>(),
                 .exp_avg = state_[2].as<std::byte>(),
                 .exp_avg_sq = state_[3].as<std::byte>(),
                 .pieces = pieces_on_device_.as<WorkPiece>(),
                 .table = table.as<StepScalars>()},
                static_cast<std::int64_t>(pieces_.size()), stream_);
  }

  void twin(std::vector<StepScalars> const& rows) {
    for (int p = 0; p < layout_.parameter_count(); ++p) {
      if (rows[static_cast<std::size_t>(p)].apply == 0) continue;
      std::size_t const begin = layout_[p].begin(TensorKind::parameter);
      launch_adam_twin({.weight = {state_[0].as<std::byte>() + begin},
                        .gradient = {state_[1].as<std::byte>() + begin},
                        .exp_avg = {state_[2].as<std::byte>() + begin},
                        .exp_avg_sq = {state_[3].as<std::byte>() + begin},
                        .numel = layout_[p].shard_numel(),
                        .scalars = rows[static_cast<std::size_t>(p)]},
                       stream_);
    }
  }

 private:
  void upload(DeviceBuffer const& to, void const* from) {
    ADAMANT_TRY(
        cudaMemcpyAsync(to.as<void>(), from, to.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }

  Ledger ledger_;
  Layout layout_;
  std::vector<WorkPiece> pieces_;
  Stream const& stream_;
  DeviceBuffer state_[4];
  DeviceBuffer pieces_on_device_;
};

/// Any bit pattern with an exponent below infinity's: zeros, subnormals, tiny and huge values.
Values wild(std::int64_t numel, std::uint32_t seed) {
  Values values;
  std::uint32_t state = seed;
  for (std::int64_t i = 0; i < numel; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    float const value = std::bit_cast<float>(state ^ (state >> 15));
    values.push_back(value - value == 0 ? value : 0.0F);
  }
  return values;
}

void expect_same(Values const& expected, Values const& actual, char const* what) {
  ASSERT_EQ(expected.size(), actual.size());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(same_value(expected[i], actual[i]))
        << what << "[" << i << "]: " << std::hexfloat << expected[i] << " and " << actual[i];
}

// Sizes around a vector's, a section's and a piece's end.
std::vector<ParameterSpec> awkward_sizes() {
  std::vector<ParameterSpec> specs;
  for (std::int64_t const numel : {1, 3, 4, 5, 4'095, 4'097, 65'536, 65'543})
    specs.push_back({.name = "p", .shape = {numel}});
  return specs;
}

TEST(AdamKernel, FusedAndTwinHaveTheSameBits) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [](RankContext const&) {
    Stream const stream;
    Problem fused(awkward_sizes(), stream);
    Problem twin(awkward_sizes(), stream);
    std::int64_t const numel = fused.flat_numel();
    for (Problem* problem : {&fused, &twin})
      for (int which = 0; which < 4; ++which)
        problem->write(which, wild(numel, 17U + static_cast<std::uint32_t>(which)));

    std::vector<StepScalars> rows;
    for (int p = 0; p < fused.layout().parameter_count(); ++p) {
      AdamMode const mode = p % 2 == 0 ? AdamMode::adamw : AdamMode::adam;
      rows.push_back(step_scalars({.mode = mode, .weight_decay = 0.1F}, p + 1, p != 3));
    }
    fused.fused(rows);
    twin.twin(rows);
    for (int which = 0; which < 4; ++which)
      expect_same(twin.read(which), fused.read(which), "after a step");
  });
}

/// Bits of p, m and v after steps 1, 2, 3 from p = 1 with gradients 0.5, -0.25, 0.001.
/// Source: domain sheet 1.3, rows "sep", computed there without contraction.
void expect_golden(AdamMode mode, std::vector<std::uint32_t> const& golden) {
  run_ranks(1, Devices::own, [&](RankContext const&) {
    Stream const stream;
    Problem problem({{.name = "p", .shape = {1}}}, stream);
    for (int const which : {0, 1, 2, 3}) problem.write(which, {which == 0 ? 1.0F : 0.0F, 0, 0, 0});
    float const gradients[] = {0.5F, -0.25F, 0.001F};
    for (std::size_t t = 0; t < 3; ++t) {
      problem.write(1, {gradients[t], 0, 0, 0});
      problem.fused({step_scalars({.mode = mode}, static_cast<std::int64_t>(t) + 1, true)});
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.read(0)[0]), golden[3 * t]);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.read(2)[0]), golden[3 * t + 1]);
      EXPECT_EQ(std::bit_cast<std::uint32_t>(problem.read(3)[0]), golden[3 * t + 2]);
    }
  });
}

TEST(AdamKernel, AdamWMeetsTheGoldenVectors) {
  ADAMANT_NEEDS(1, Devices::own);
  expect_golden(AdamMode::adamw, {0x3f7fbdcf, 0x3d4cccd0, 0x39831200, 0x3f7fabb3, 0x3ca3d70c,
                                  0x39a3b4f2, 0x3f7f9d7a, 0x3c944675, 0x39a38b2b});
}

TEST(AdamKernel, AdamMeetsTheGoldenVectors) {
  ADAMANT_NEEDS(1, Devices::own);
  expect_golden(AdamMode::adam, {0x3f7fbe77, 0x3d50e563, 0x39885d94, 0x3f7fab83, 0x3cb3658b,
                                 0x39a66e27, 0x3f7f9c0c, 0x3caa7527, 0x39a653c0});
}

}  // namespace
}  // namespace adamant::real
