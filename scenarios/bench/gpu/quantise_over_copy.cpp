// Both reads of main weights that make codes and scales of them, by each recipe. The oracle makes
// the same of a smaller matrix first.
#include <algorithm>

#include "oracle/quantise/recipes.h"
#include "real/quantise/quantise_kernels.h"
#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/gpu/turns.h"

namespace adamant::scenarios {

namespace {

constexpr Recipe recipes[] = {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block,
                              Recipe::mxfp8, Recipe::nvfp4};
constexpr oracle::MatrixShape checked = {.rows = 256, .columns = 1152};

/// One matrix, all of it on one rank.
class QuantiseProblem {
 public:
  QuantiseProblem(Device& device, Recipe recipe, oracle::MatrixShape shape)
      : device_(device),
        shape_{.numel = shape.numel(), .columns = shape.columns, .recipe = recipe} {
    auto const numel = static_cast<std::size_t>(shape.numel());
    auto* const weights = reinterpret_cast<float*>(device.room(numel * sizeof(float)));
    device.fill({weights, NumberFormat::fp32}, shape.numel(), {.sigma = 0.02F});
    auto const blocks = static_cast<std::size_t>(real::block_count(shape_));
    maxima_ = std::max<std::size_t>(1, static_cast<std::size_t>(real::maxima_count(shape_)));
    auto* const maxima = device.put(std::vector<std::int32_t>(maxima_));  // joined by one rank
    task_ = {.shape = shape_,
             .begin = 0,
             .count = shape.numel(),
             .weights = weights,
             .codes = device.put(std::vector<std::uint8_t>(numel)),
             .partial = maxima,
             .joined = maxima,
             .scales = device.put(std::vector<float>(blocks)),
             .scale_codes = device.put(std::vector<std::uint8_t>(blocks)),
             .delayed = device.put(std::vector<real::DelayedScale>(1))};
  }

  void forget_maxima() const { device_.zero(task_.partial, maxima_ * sizeof(std::int32_t)); }
  void first_read() const { launch_first_read({&task_, 1}, device_.stream); }
  void second_read() const { launch_second_read({&task_, 1}, device_.stream); }
  bool is_read_twice() const { return real::is_read_twice(shape_); }
  double bytes_of_first_read() const { return bytes_read() + (is_read_twice() ? 0 : codes()); }
  double bytes_of_second_read() const { return bytes_read() + codes(); }

  void quantise() const {
    forget_maxima();
    first_read();
    launch_scales({&task_, 1}, device_.stream);
    second_read();
  }

  std::int64_t bytes_unlike_oracle() const {
    quantise();
    auto const weights = device_.get(task_.weights, task_.count);
    oracle::DelayedScale delayed;
    bool const is_delayed = shape_.recipe == Recipe::fp8_delayed;
    auto const right = oracle::quantise(weights, {task_.count / shape_.columns, shape_.columns},
                                        shape_.recipe, is_delayed ? &delayed : nullptr);
    auto const packed = device_.get(task_.codes, real::code_bytes(shape_.recipe, task_.count));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < right.codes.size(); ++i)
      wrong += code_at(packed, i) != right.codes[i] ? 1 : 0;
    auto const scale_codes = device_.get(task_.scale_codes, std::ssize(right.scale_codes));
    for (std::size_t b = 0; b < scale_codes.size(); ++b)
      wrong += scale_codes[b] != right.scale_codes[b] ? 1 : 0;
    return wrong;
  }

 private:
  double bytes_read() const { return 4.0 * static_cast<double>(task_.count); }
  double codes() const { return static_cast<double>(real::code_bytes(shape_.recipe, task_.count)); }
  std::uint8_t code_at(std::vector<std::uint8_t> const& packed, std::size_t element) const {
    if (shape_.recipe != Recipe::nvfp4) return packed[element];
    std::uint8_t const both = packed[element / 2];
    return element % 2 == 0 ? both & 0xfU : both >> 4;
  }

  Device& device_;
  real::RecipeShape shape_;
  std::size_t maxima_ = 0;
  real::QuantiseTask task_;
};

void measure(Turns& turns, Recipe recipe, oracle::MatrixShape shape) {
  std::string const name(name_of(recipe));
  QuantiseProblem const small(turns.device(), recipe, checked);
  if (std::int64_t const wrong = small.bytes_unlike_oracle(); wrong > 0)
    return turns.note_wrong(name + "_first_read", wrong);
  QuantiseProblem const problem(turns.device(), recipe, shape);
  problem.quantise();
  std::vector<Contender> contenders = {{.name = name + "_first_read",
                                        .bytes = problem.bytes_of_first_read(),
                                        .enqueue = [&] { problem.first_read(); },
                                        .before = [&] { problem.forget_maxima(); }}};
  if (problem.is_read_twice())
    contenders.push_back({.name = name + "_second_read",
                          .bytes = problem.bytes_of_second_read(),
                          .enqueue = [&] { problem.second_read(); }});
  turns.take(contenders);
}

}  // namespace

void measure_gpu_quantise(GpuSizes const& sizes, SuiteRows& rows) {
  Turns turns(rows, sizes);
  std::int64_t const columns = sizes.flat < (1 << 20) ? 128 : 4'096;
  for (Recipe const recipe : recipes) {
    measure(turns, recipe, {.rows = sizes.flat / columns, .columns = columns});
    turns.device().forget();
  }
  turns.finish();
}

}  // namespace adamant::scenarios
