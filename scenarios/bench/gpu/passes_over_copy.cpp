// Passes over gradients beside the step: mean, cast, the look for overflow and the sum of squares.
// The host makes the same of fewer numbers by plain loops first.
#include <algorithm>
#include <cstdio>
#include <functional>

#include "real/comm/mean_kernel.h"
#include "real/scale/scaling_kernels.h"
#include "real/shard/cast_kernel.h"
#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/gpu/turns.h"

namespace adamant::scenarios {

namespace {

using real::Numbers;

constexpr int look_blocks = 512;  // as the engine's own (real/scale/gradient_scaling.cpp)
constexpr float divisor = 24;     // no power of two: the division rounds

/// A pass over `numel` elements, and what is wrong with its results: bytes.
struct Pass {
  Contender contender;
  std::function<std::int64_t()> bytes_wrong;
};

std::vector<std::byte> bytes_at(Device const& device, Numbers const& numbers, std::int64_t numel) {
  std::int64_t const bytes = numel * static_cast<std::int64_t>(bytes_of(numbers.format));
  return device.get(static_cast<std::byte const*>(numbers.data), bytes);
}

std::int64_t differences(std::vector<std::byte> const& a, std::vector<std::byte> const& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) count += a[i] != b[i] ? 1 : 0;
  return count;
}

class Passes {
 public:
  Passes(Device& device, std::int64_t numel) : device_(device), numel_(numel) {}

  Pass mean(NumberFormat format, bool accumulate);
  Pass cast(NumberFormat from, NumberFormat to);
  Pass look(NumberFormat format);
  Pass squares(NumberFormat format, float sigma);

 private:
  Numbers drawn(NumberFormat format, float sigma, std::uint32_t seed) {
    Numbers const numbers = {device_.room(static_cast<std::size_t>(numel_) * bytes_of(format)),
                             format};
    device_.fill(numbers, numel_, {.sigma = sigma, .seed = seed});
    return numbers;
  }
  double bytes(std::size_t of_one) const {
    return static_cast<double>(of_one) * static_cast<double>(numel_);
  }
  std::int64_t mean_is_wrong(Numbers const& gradient, Numbers const& sum, Contender const& mean,
                             bool accumulate);
  std::int64_t squares_are_wrong(Numbers const& gradient, real::Word const* words, int blocks);

  Device& device_;
  std::int64_t numel_;
};

Pass Passes::mean(NumberFormat format, bool accumulate) {
  Numbers const gradient = drawn(format, 1e-3F, 1);
  Numbers const sum = drawn(format, 1e-2F, 2);
  real::MeanTask const task = {.gradient = gradient.data,
                               .sum = sum.data,
                               .numel = numel_,
                               .format = format,
                               .accumulate = accumulate};
  Contender const contender = {
      .name = "mean_" + std::string(name_of(format)) + (accumulate ? "_accumulated" : ""),
      .bytes = bytes((accumulate ? 3 : 2) * bytes_of(format)),
      .enqueue = [this, task] {
        launch_mean({&task, 1}, divisor, device_.stream);
      }};
  return {contender, [=, this] { return mean_is_wrong(gradient, sum, contender, accumulate); }};
}

std::int64_t Passes::mean_is_wrong(Numbers const& gradient, Numbers const& sum,
                                   Contender const& mean, bool accumulate) {
  std::vector<float> expected = real::decoded(bytes_at(device_, gradient, numel_), gradient.format);
  std::vector<float> quotients = real::decoded(bytes_at(device_, sum, numel_), sum.format);
  mean.enqueue();
  for (float& quotient : quotients) quotient /= divisor;
  quotients = real::rounded(quotients, sum.format);
  for (std::size_t i = 0; i < quotients.size(); ++i)
    expected[i] = accumulate ? expected[i] + quotients[i] : quotients[i];
  return differences(bytes_at(device_, gradient, numel_), real::encoded(expected, gradient.format));
}

Pass Passes::cast(NumberFormat from_format, NumberFormat to_format) {
  Numbers const from = drawn(from_format, 1e-3F, 3);
  Numbers const to = drawn(to_format, 1e-3F, 4);
  real::CastTask const task = {.from = from, .to = to, .numel = numel_};
  Contender const contender = {.name = "cast_" + std::string(name_of(from_format)) + "_to_" +
                                       std::string(name_of(to_format)),
                               .bytes = bytes(bytes_of(from_format) + bytes_of(to_format)),
                               .enqueue = [this, task] {
                                 launch_casts({&task, 1}, device_.stream);
                               }};
  return {contender, [=, this] {
            contender.enqueue();
            auto const values = real::decoded(bytes_at(device_, from, numel_), from.format);
            return differences(bytes_at(device_, to, numel_), real::encoded(values, to.format));
          }};
}

Pass Passes::look(NumberFormat format) {
  Numbers const gradient = drawn(format, 1e-3F, 5);
  auto* const flags = device_.put(std::vector<std::int32_t>(look_blocks, 7));
  real::GradientPart const part = {.values = gradient, .numel = numel_};
  Contender const contender = {.name = "look_" + std::string(name_of(format)),
                               .bytes = bytes(bytes_of(format)),
                               .enqueue = [this, part, flags] {
                                 launch_look({&part, 1}, look_blocks, flags, device_.stream);
                               }};
  auto const count_set = [=, this] {
    contender.enqueue();
    std::int64_t sum = 0;
    for (std::int32_t const flag : device_.get(flags, look_blocks)) sum += flag;
    return sum;
  };
  return {contender, [=, this] {
            std::int64_t const without = count_set();
            auto const width = bytes_of(format);
            auto* const last = static_cast<std::byte*>(gradient.data) +
                               static_cast<std::size_t>(numel_ - 1) * width;
            ADAMANT_TRY(cudaMemsetAsync(last, 0xff, width, device_.stream.get()));  // a NaN
            std::int64_t const with = count_set();
            return without == 0 && with == 1 ? std::int64_t{0} : std::int64_t{1};
          }};
}

Pass Passes::squares(NumberFormat format, float sigma) {
  Numbers const gradient = drawn(format, sigma, 6);
  auto* const words = device_.put(std::vector<real::Word>(look_blocks * real::word_count));
  auto* const inverse = device_.put(std::vector<float>{1.0F});
  real::GradientPart const part = {.values = gradient, .numel = numel_};
  real::SquaresTarget const target = {.words = words, .inverse = inverse, .blocks = look_blocks};
  char sigma_text[16];
  static_cast<void>(std::snprintf(sigma_text, sizeof sigma_text, "%g", static_cast<double>(sigma)));
  Contender const contender = {.name = "squares_" + std::string(name_of(format)) + "_" + sigma_text,
                               .bytes = bytes(bytes_of(format)),
                               .enqueue = [this, part, target] {
                                 launch_squares({&part, 1}, target, device_.stream);
                               }};
  return {contender, [=, this] {
            contender.enqueue();
            return squares_are_wrong(gradient, words, look_blocks);
          }};
}

std::int64_t Passes::squares_are_wrong(Numbers const& gradient, real::Word const* words,
                                       int blocks) {
  std::vector<real::Word> expected(real::word_count);
  for (float const x : real::decoded(bytes_at(device_, gradient, numel_), gradient.format)) {
    real::SquareParts const square = real::square_parts(x);
    for (int i = 0; i < 3; ++i)
      if (square.parts[i] != 0)
        expected[static_cast<std::size_t>(square.limb + i)] += square.parts[i];
  }
  real::carry(expected.data());
  std::vector<real::Word> sum(real::word_count);
  auto const found = device_.get(words, std::int64_t{blocks} * real::word_count);
  for (std::size_t i = 0; i < found.size(); ++i) sum[i % real::word_count] += found[i];
  real::carry(sum.data());
  std::int64_t count = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) count += sum[i] != expected[i] ? 8 : 0;
  return count;
}

std::vector<Pass> all_passes(Passes& passes) {
  using F = NumberFormat;
  return {passes.mean(F::fp32, false),
          passes.mean(F::fp32, true),
          passes.mean(F::bf16, false),
          passes.cast(F::fp32, F::bf16),
          passes.cast(F::bf16, F::fp32),
          passes.look(F::fp32),
          passes.look(F::bf16),
          passes.squares(F::fp32, 1e-3F),
          passes.squares(F::fp32, 6.1e-5F),
          passes.squares(F::fp32, 1e-7F),
          passes.squares(F::bf16, 1e-3F)};
}

}  // namespace

void measure_gpu_passes(GpuSizes const& sizes, SuiteRows& rows) {
  Turns turns(rows, sizes);
  std::vector<std::int64_t> wrong;
  {
    Passes passes(turns.device(), sizes.checked);
    for (Pass const& pass : all_passes(passes)) wrong.push_back(pass.bytes_wrong());
  }
  turns.device().forget();
  Passes passes(turns.device(), sizes.flat);
  std::vector<Contender> right;
  std::vector<Pass> const all = all_passes(passes);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (wrong[i] == 0) right.push_back(all[i].contender);
  turns.take(right);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (wrong[i] > 0) turns.note_wrong(all[i].contender.name, wrong[i]);
  turns.finish();
}

}  // namespace adamant::scenarios
