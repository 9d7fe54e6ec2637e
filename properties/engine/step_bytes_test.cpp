// The bytes that the step's kernels move on simulated devices, which see every access, against what
// tables and benchmarks reckon with.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "real/cuda/error.h"
#include "real/engine.h"
#include "real/quantise/recipe_shape.h"
#include "real/step/traffic.h"
#include "sim/sim.h"

namespace adamant::real {
namespace {

/// Leaves whole gradients at zero.
class Zeros final : public GradientSource {
 public:
  void backward(UnitBackward const& request) override {
    for (WholeTensor const& tensor : request.tensors) {
      auto const bytes = static_cast<std::size_t>(tensor.numel) * bytes_of(tensor.gradient_format);
      ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0, bytes, request.stream));
    }
  }
};

class OneRank final : public Rendezvous {
 public:
  void arrive_and_wait(int) override {}
};

using BytesByKernel = std::map<std::string, sim::KernelBytes>;

/// Of a backward and a step of one parameter.
BytesByKernel bytes_of_a_step(Formats const& formats, AdamMode mode,
                              std::vector<std::int64_t> const& shape) {
  Zeros gradients;
  OneRank alone;
  EngineConfig config;
  config.parameters = {{.name = "w", .shape = shape, .formats = formats}};
  config.groups = {{.mode = mode}};
  config.transport = Transport::loopback;
  config.rendezvous = &alone;
  config.exchange = make_loopback_exchange(1);
  auto const main = [&](int) {
    auto const engine = make_engine(config, gradients);
    engine->backward({});
    engine->step();
    engine->synchronize();
  };
  sim::Report const report = sim::run(1, main, {.count_bytes = true});
  EXPECT_TRUE(report.ok()) << sim::describe(report);
  BytesByKernel by_kernel;
  for (sim::KernelBytes const& kernel : report.kernels) by_kernel.emplace(kernel.kernel, kernel);
  return by_kernel;
}

constexpr std::int64_t numel = 1024;  // and twice as many, in one section of one piece

/// What an element costs is what more of them cost more: rows and pieces cost the same.
StepTraffic measured(Formats const& formats, AdamMode mode) {
  BytesByKernel const few = bytes_of_a_step(formats, mode, {numel});
  BytesByKernel const many = bytes_of_a_step(formats, mode, {2 * numel});
  auto const an_element = [&](std::string const& kernel, auto bytes) {
    if (!few.contains(kernel)) return std::size_t{0};
    std::uint64_t const more = many.at(kernel).*bytes - few.at(kernel).*bytes;
    EXPECT_EQ(more % numel, 0U) << kernel;
    return static_cast<std::size_t>(more / numel);
  };
  EXPECT_EQ(an_element("amax_kernel", &sim::KernelBytes::written), 0U);
  return {.read = an_element("adam_kernel", &sim::KernelBytes::read),
          .written = an_element("adam_kernel", &sim::KernelBytes::written),
          .read_for_scales = an_element("amax_kernel", &sim::KernelBytes::read)};
}

std::vector<Formats> all_formats() {
  constexpr NumberFormat plain[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16};
  constexpr NumberFormat states[] = {NumberFormat::fp32, NumberFormat::bf16, NumberFormat::fp16,
                                     NumberFormat::fp8};
  std::vector<Formats> all;
  for (NumberFormat const gradient : plain)
    for (NumberFormat const moment : states) {
      Formats const common{.gradient = gradient, .exp_avg = moment, .exp_avg_sq = moment};
      for (NumberFormat const parameter : plain) {
        all.push_back(common);
        all.back().parameter = parameter;
      }
      for (NumberFormat const main :
           {NumberFormat::fp32, NumberFormat::fp16, NumberFormat::remainder}) {
        all.push_back(common);
        all.back().parameter = NumberFormat::bf16;
        all.back().main = main;
      }
    }
  return all;
}

TEST(StepBytes, AreThoseOfTheTable) {
  if (!sim::can_check) GTEST_SKIP() << "this build does not see accesses";
  for (Formats const& formats : all_formats())
    for (AdamMode const mode : {AdamMode::adamw, AdamMode::adam}) {
      SCOPED_TRACE(testing::Message()
                   << name_of(formats.parameter) << ' ' << name_of(formats.gradient) << ' '
                   << (formats.main ? name_of(*formats.main) : "none") << ' '
                   << name_of(formats.exp_avg) << (mode == AdamMode::adam ? " L2" : ""));
      StepTraffic const expected = traffic_of_step(formats, mode);
      StepTraffic const seen = measured(formats, mode);
      EXPECT_EQ(seen.read, expected.read);
      EXPECT_EQ(seen.written, expected.written);
      EXPECT_EQ(seen.read_for_scales, expected.read_for_scales);
    }
}

/// What 128 rows more of 128 columns cost the kernels that quantise.
sim::KernelBytes of_more_rows(Recipe recipe) {
  Formats const formats{.main = NumberFormat::fp32, .recipe = recipe};
  BytesByKernel const few = bytes_of_a_step(formats, AdamMode::adamw, {128, 128});
  BytesByKernel const many = bytes_of_a_step(formats, AdamMode::adamw, {256, 128});
  sim::KernelBytes more;
  for (char const* const kernel : {"first_read_kernel", "second_read_kernel"}) {
    if (!few.contains(kernel)) continue;
    more.read += many.at(kernel).read - few.at(kernel).read;
    more.written += many.at(kernel).written - few.at(kernel).written;
  }
  return more;
}

// Beside weights and codes there are maxima, 4 or 8 bytes for what a thread reads at once, and the
// scale codes of mxfp8.
TEST(QuantiseBytes, AreOneReadOfWhatIsNeededAndOneWriteOfCodes) {
  if (!sim::can_check) GTEST_SKIP() << "this build does not see accesses";
  constexpr std::uint64_t elements = 128 * 128;
  for (Recipe const recipe : {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4}) {
    SCOPED_TRACE(name_of(recipe));
    std::uint64_t const weights = 4 * elements * (is_read_twice({.recipe = recipe}) ? 2 : 1);
    auto const codes = static_cast<std::uint64_t>(code_bytes(recipe, elements));
    auto const beside = static_cast<std::uint64_t>(scale_codes_beside(recipe, elements));
    sim::KernelBytes const more = of_more_rows(recipe);
    EXPECT_GE(more.read, weights);
    EXPECT_LE(more.read, weights + (is_read_twice({.recipe = recipe}) ? elements / 16 * 8 : 0));
    EXPECT_EQ(more.written, codes + beside);
  }
}

}  // namespace
}  // namespace adamant::real
