#include "real/step/adam_kernel.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <vector>

#include "real/cuda/error.h"
#include "real/cuda/numbers.h"
#include "real/cuda/state_numbers.h"
#include "real/shard/memory.h"
#include "real/step/adam_twin.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

using Bytes = std::vector<std::byte>;

std::uint32_t first_word(Bytes const& bytes) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

/// Flat state of a few parameters on the device, and how to step it either way.
class Problem {
 public:
  Problem(std::vector<ParameterSpec> specs, Stream const& stream)
      : layout_(specs, {}), pieces_(make_work_list(layout_, Split(layout_))), stream_(stream) {
    for (TensorKind const kind : all_tensor_kinds)
      buffer(kind) = DeviceBuffer(ledger_, Purpose::parameters, layout_.flat_bytes(kind), stream);
    now_ = scales(7);
    next_ = scales(5);
    auto const bytes = now_.size() * sizeof(float);
    for (DeviceBuffer* words : {&now_on_device_, &next_on_device_, &amaxes_})
      *words = DeviceBuffer(ledger_, Purpose::state_scales, bytes, stream);
    upload(now_on_device_, now_.data());
    upload(next_on_device_, next_.data());
    zero_async(amaxes_, 0, bytes, stream);
    pieces_on_device_ =
        DeviceBuffer(ledger_, Purpose::work_list, pieces_.size() * sizeof(WorkPiece), stream);
    upload(pieces_on_device_, pieces_.data());
  }

  Layout const& layout() const { return layout_; }

  void write(TensorKind kind, void const* values) { upload(buffer(kind), values); }
  Bytes read(TensorKind kind) const {
    Bytes bytes(buffer(kind).bytes());
    if (!bytes.empty())
      ADAMANT_TRY(cudaMemcpyAsync(bytes.data(), flat(kind), bytes.size(), cudaMemcpyDeviceToHost,
                                  stream_.get()));
    stream_.synchronize();
    return bytes;
  }

  /// The amaxes first, then the step.
  void fused(std::vector<StepScalars> const& rows) {
    DeviceBuffer table(ledger_, Purpose::step_table, rows.size() * sizeof(StepScalars), stream_);
    upload(table, rows.data());
    AdamArguments const arguments = {
        .parameters = flat(TensorKind::parameter),
        .main = flat(TensorKind::main),
        .gradients = flat(TensorKind::gradient),
        .cast_gradients = flat(TensorKind::cast_gradient),
        .exp_avg = flat(TensorKind::exp_avg),
        .exp_avg_sq = flat(TensorKind::exp_avg_sq),
        .pieces = pieces_on_device_.as<WorkPiece>(),
        .table = table.as<StepScalars>(),
        .scales = {now_on_device_.as<float>(), next_on_device_.as<float>()}};
    launch_amaxes(arguments, amaxes_.as<std::int32_t>(), extent_of(pieces_), stream_);
    launch_adam(arguments, extent_of(pieces_), stream_);
  }

  void twin(std::vector<StepScalars> const& rows) {
    for (int p = 0; p < layout_.parameter_count(); ++p) {
      if (rows[static_cast<std::size_t>(p)].apply == 0) continue;
      bool const cast = layout_[p].format(TensorKind::cast_gradient).has_value();
      Formats const& formats = layout_[p].formats;
      AdamTwinArguments const arguments = {
          .weight = numbers(p, formats.main ? TensorKind::main : TensorKind::parameter),
          .gradient = numbers(p, cast ? TensorKind::cast_gradient : TensorKind::gradient),
          .exp_avg = numbers(p, TensorKind::exp_avg),
          .exp_avg_sq = numbers(p, TensorKind::exp_avg_sq),
          .parameter = formats.main ? numbers(p, TensorKind::parameter) : Numbers{},
          .weight_scale = scale(p, TensorKind::main),
          .exp_avg_scale = scale(p, TensorKind::exp_avg),
          .exp_avg_sq_scale = scale(p, TensorKind::exp_avg_sq),
          .numel = layout_[p].stepped_numel(),
          .scalars = rows[static_cast<std::size_t>(p)]};
      launch_amax_twin(arguments, amaxes_.as<std::int32_t>() + scale_slot(p, TensorKind::main),
                       stream_);
      launch_adam_twin(arguments, stream_);
    }
  }

  bool is_scaled(int parameter, TensorKind kind) const {
    auto const format = layout_[parameter].format(kind);
    return format && has_scale(kind, *format);
  }

  /// As they were found since construction, by slot; of scaled states alone.
  std::vector<float> amaxes() const {
    std::vector<float> amaxes = download(amaxes_.as<void>(), std::ssize(now_), stream_.get());
    for (int p = 0; p < layout_.parameter_count(); ++p)
      for (TensorKind const kind : state_kinds)
        if (!is_scaled(p, kind)) amaxes[scale_slot(p, kind)] = 0;
    return amaxes;
  }
  std::int64_t amax_count() const { return std::ssize(now_); }

 private:
  /// Different for all slots. What has no scale has one here, too, which nobody must use.
  std::vector<float> scales(std::size_t factor) const {
    auto const slots = static_cast<std::size_t>(layout_.parameter_count()) * slots_per_parameter;
    std::vector<float> scales(slots);
    for (std::size_t i = 0; i < slots; ++i)
      scales[i] =
          std::ldexp(1.0F + static_cast<float>(i) / 4'096, static_cast<int>(i * factor % 41) - 20);
    return scales;
  }
  TwinScale scale(int parameter, TensorKind kind) const {
    if (!is_scaled(parameter, kind)) return {};
    std::size_t const slot = scale_slot(parameter, kind);
    return {.now = now_[slot], .next = next_[slot]};
  }
  DeviceBuffer& buffer(TensorKind kind) { return state_[static_cast<std::size_t>(kind)]; }
  DeviceBuffer const& buffer(TensorKind kind) const {
    return state_[static_cast<std::size_t>(kind)];
  }
  std::byte* flat(TensorKind kind) const { return buffer(kind).as<std::byte>(); }
  Numbers numbers(int parameter, TensorKind kind) const {
    return {flat(kind) + layout_[parameter].begin(kind), *layout_[parameter].format(kind)};
  }

  void upload(DeviceBuffer const& to, void const* from) {
    if (to.bytes() == 0) return;
    ADAMANT_TRY(
        cudaMemcpyAsync(to.as<void>(), from, to.bytes(), cudaMemcpyHostToDevice, stream_.get()));
    stream_.synchronize();
  }

  Ledger ledger_;
  Layout layout_;
  std::vector<WorkPiece> pieces_;
  Stream const& stream_;
  DeviceBuffer state_[tensor_kind_count];
  DeviceBuffer pieces_on_device_;
  std::vector<float> now_;
  std::vector<float> next_;
  DeviceBuffer now_on_device_;
  DeviceBuffer next_on_device_;
  DeviceBuffer amaxes_;
};

/// Stored numbers that are of any size but not NaN, in whatever formats they are read: no 16 bits
/// have an exponent of ones, no 8 bits are all ones but the sign.
Bytes wild(std::size_t bytes, std::uint32_t seed) {
  Bytes result(bytes);
  std::uint32_t state = seed;
  for (std::size_t at = 0; at + 2 <= bytes; at += 2) {
    state = state * 1'664'525U + 1'013'904'223U;
    std::uint32_t word = (state ^ (state >> 15)) & 0xffffU;
    if ((word & 0x7c00U) == 0x7c00U) word ^= 0x4000U;
    if ((word & 0x7fU) == 0x7fU) word ^= 0x40U;
    result[at] = static_cast<std::byte>(word & 0xffU);
    result[at + 1] = static_cast<std::byte>(word >> 8);
  }
  return result;
}

// Sizes around a vector's, a section's and a piece's end.
std::vector<ParameterSpec> awkward_sizes() {
  std::vector<ParameterSpec> specs;
  for (std::int64_t const numel : {1, 3, 4, 5, 4'095, 4'097, 65'536, 65'543})
    specs.push_back({.name = "p", .shape = {numel}});
  return specs;
}

std::vector<std::optional<NumberFormat>> main_formats(NumberFormat parameter) {
  std::vector<std::optional<NumberFormat>> formats = {std::nullopt, NumberFormat::fp32,
                                                      NumberFormat::bf16, NumberFormat::fp16};
  if (parameter == NumberFormat::bf16) formats.push_back(NumberFormat::remainder);
  return formats;
}

/// Every combination of formats that an engine may be asked for with such a parameter and gradient,
/// in turn, one a parameter.
std::vector<ParameterSpec> every_format(NumberFormat parameter, NumberFormat gradient) {
  constexpr NumberFormat of_moments[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16,
                                         NumberFormat::fp8};
  std::vector<ParameterSpec> specs;
  for (NumberFormat const exp_avg : of_moments)
    for (NumberFormat const exp_avg_sq : of_moments)
      for (auto const main : main_formats(parameter))
        for (bool const decoupled : {false, true})
          specs.push_back({.name = "p",
                           .shape = {static_cast<std::int64_t>(1 + 37 * specs.size() % 301)},
                           .formats = {.parameter = parameter,
                                       .gradient = gradient,
                                       .exp_avg = exp_avg,
                                       .exp_avg_sq = exp_avg_sq,
                                       .main = main,
                                       .decoupled_gradient = decoupled}});
  return specs;
}

/// Steps the same state by the fused kernel and by its twin, some parameters not at all.
void expect_fused_is_twin(std::vector<ParameterSpec> const& specs) {
  run_ranks(1, Devices::own, [&](RankContext const&) {
    Stream const stream;
    Problem fused(specs, stream);
    Problem twin(specs, stream);
    for (TensorKind const kind : all_tensor_kinds) {
      Bytes const values =
          wild(fused.layout().flat_bytes(kind), 17U + static_cast<std::uint32_t>(kind));
      for (Problem* problem : {&fused, &twin}) problem->write(kind, values.data());
    }
    std::vector<StepScalars> rows;
    for (int p = 0; p < fused.layout().parameter_count(); ++p) {
      AdamMode const mode = p % 2 == 0 ? AdamMode::adamw : AdamMode::adam;
      rows.push_back(step_scalars({.mode = mode, .weight_decay = 0.1F}, p + 1, p % 7 != 3));
    }
    fused.fused(rows);
    twin.twin(rows);
    // Both round the same numbers in the same program, so also NaNs have the same bits.
    for (TensorKind const kind : all_tensor_kinds)
      EXPECT_TRUE(twin.read(kind) == fused.read(kind)) << name_of(kind);
    EXPECT_EQ(twin.amaxes(), fused.amaxes());
  });
}

TEST(AdamKernel, FusedAndTwinHaveTheSameBits) {
  ADAMANT_NEEDS(1, Devices::own);
  expect_fused_is_twin(awkward_sizes());
}

TEST(AdamKernel, FusedAndTwinHaveTheSameBitsInAllFormatsAtOnce) {
  ADAMANT_NEEDS(1, Devices::own);
  constexpr NumberFormat all[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};
  for (NumberFormat const parameter : all)
    for (NumberFormat const gradient : all) expect_fused_is_twin(every_format(parameter, gradient));
}

TEST(AdamKernel, FusedAndTwinHaveTheSameBitsInScaledSectionsAndPieces) {
  ADAMANT_NEEDS(1, Devices::own);
  std::vector<ParameterSpec> specs = awkward_sizes();
  for (ParameterSpec& spec : specs)
    spec.formats = {.parameter = NumberFormat::bf16,
                    .exp_avg = NumberFormat::fp8,
                    .exp_avg_sq = NumberFormat::fp16,
                    .main = NumberFormat::fp16};
  expect_fused_is_twin(specs);
}

// What has no scale in this parameter finds no amax, nor does what is not stepped.
TEST(AdamKernel, AmaxesAreOfFiniteNewValuesBeforeTheyAreRounded) {
  ADAMANT_NEEDS(1, Devices::own);
  constexpr float infinity = std::numeric_limits<float>::infinity();
  run_ranks(1, Devices::own, [&](RankContext const&) {
    Stream const stream;
    Problem problem({{.name = "p", .shape = {4}, .formats = {.exp_avg = NumberFormat::fp8}},
                     {.name = "q", .shape = {4}, .formats = {.exp_avg_sq = NumberFormat::fp16}},
                     {.name = "r", .shape = {4}, .formats = {.exp_avg_sq = NumberFormat::fp16}}},
                    stream);
    float const nan = std::numeric_limits<float>::quiet_NaN();
    float const gradients[] = {1, -3, infinity, nan, nan, -infinity, infinity, nan, 1, 2, 3, 4};
    problem.write(TensorKind::gradient, gradients);
    for (TensorKind const kind :
         {TensorKind::parameter, TensorKind::exp_avg, TensorKind::exp_avg_sq})
      problem.write(kind, Bytes(problem.layout().flat_bytes(kind)).data());
    problem.fused(
        {step_scalars({}, 1, true), step_scalars({}, 1, true), step_scalars({}, 1, false)});
    std::vector<float> expected(static_cast<std::size_t>(problem.amax_count()), 0.0F);
    expected[scale_slot(0, TensorKind::exp_avg)] = (1.0F - 0.9F) * 3.0F;
    EXPECT_EQ(problem.amaxes(), expected);
  });
}

/// Splits weights over the flat buffers of parameters and remainders, which have the same layout.
void write_split(Problem& problem, std::vector<float> const& weights) {
  std::vector<std::uint16_t> parameters;
  for (float const weight : weights) parameters.push_back(split(weight).parameter);
  problem.write(TensorKind::parameter, parameters.data());
  problem.write(TensorKind::main, encoded(weights, NumberFormat::remainder).data());
}

std::vector<float> read_joined(Problem const& problem) {
  Bytes const parameters = problem.read(TensorKind::parameter);
  Bytes const remainders = problem.read(TensorKind::main);
  std::vector<float> weights;
  for (std::size_t at = 0; at < parameters.size(); at += sizeof(std::uint16_t)) {
    SplitWeight halves = {};
    std::memcpy(&halves.parameter, parameters.data() + at, sizeof halves.parameter);
    std::memcpy(&halves.remainder, remainders.data() + at, sizeof halves.remainder);
    weights.push_back(joined(halves));
  }
  return weights;
}

TEST(AdamKernel, AWeightInTwoHalvesIsStepByStepTheSameAsInOne) {
  ADAMANT_NEEDS(1, Devices::own);
  run_ranks(1, Devices::own, [&](RankContext const&) {
    Stream const stream;
    constexpr std::int64_t numel = 24;  // no padding in any format
    auto const problem_with = [&](NumberFormat main) {
      return Problem({{.name = "p",
                       .shape = {numel},
                       .formats = {.parameter = NumberFormat::bf16, .main = main}}},
                     stream);
    };
    Problem halves = problem_with(NumberFormat::remainder);
    Problem whole = problem_with(NumberFormat::fp32);
    std::vector<float> weights;
    std::vector<float> gradients;
    for (int i = 0; i < numel; ++i) {
      weights.push_back(std::bit_cast<float>(0x3f80'7ffcU + static_cast<std::uint32_t>(i)));
      gradients.push_back(static_cast<float>(i - 11) / 8);
    }
    write_split(halves, weights);
    whole.write(TensorKind::main, weights.data());
    for (Problem* problem : {&halves, &whole}) {
      problem->write(TensorKind::gradient, gradients.data());
      for (TensorKind const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq})
        problem->write(kind, std::vector<float>(numel, 0.0F).data());
      for (int t = 1; t <= 3; ++t) problem->fused({step_scalars({}, t, true)});
    }
    EXPECT_EQ(read_joined(halves), decoded(whole.read(TensorKind::main), NumberFormat::fp32));
  });
}

/// Bits of p, m and v after steps 1, 2, 3 from p = 1 with gradients 0.5, -0.25, 0.001.
/// Source: domain sheet 1.3, rows "sep", computed there without contraction.
void expect_golden(AdamMode mode, std::vector<std::uint32_t> const& golden) {
  run_ranks(1, Devices::own, [&](RankContext const&) {
    Stream const stream;
    Problem problem({{.name = "p", .shape = {1}}}, stream);
    constexpr float one[] = {1, 0, 0, 0};
    constexpr float zero[] = {0, 0, 0, 0};
    problem.write(TensorKind::parameter, one);
    for (TensorKind const kind : {TensorKind::exp_avg, TensorKind::exp_avg_sq})
      problem.write(kind, zero);
    float const gradients[] = {0.5F, -0.25F, 0.001F};
    for (std::size_t t = 0; t < 3; ++t) {
      float const gradient[] = {gradients[t], 0, 0, 0};
      problem.write(TensorKind::gradient, gradient);
      problem.fused({step_scalars({.mode = mode}, static_cast<std::int64_t>(t) + 1, true)});
      EXPECT_EQ(first_word(problem.read(TensorKind::parameter)), golden[3 * t]);
      EXPECT_EQ(first_word(problem.read(TensorKind::exp_avg)), golden[3 * t + 1]);
      EXPECT_EQ(first_word(problem.read(TensorKind::exp_avg_sq)), golden[3 * t + 2]);
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
