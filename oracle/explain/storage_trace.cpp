#include "oracle/explain/storage_trace.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "oracle/formats/formats.h"
#include "oracle/formats/small_formats.h"
#include "oracle/quantise/states.h"

namespace adamant::oracle {
namespace {

constexpr Trace::Kept as_e4m3{"e4m3", 4, 0x1p-9};
constexpr Trace::Kept as_e2m1{"e2m1", 2, 0.5};
constexpr float largest_float = std::numeric_limits<float>::max();

/// The largest magnitude as recipes have it: NaN passed over, infinities counted.
float amax_in(std::span<float const> values) {
  float amax = 0;
  for (float const x : values)
    if (!std::isnan(x)) amax = std::max(amax, std::fabs(x));
  return amax;
}

/// Rows and columns of a block around an element.
struct Block {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

std::vector<float> values_in(Block const& block, std::span<float const> weights,
                             MatrixShape shape) {
  std::vector<float> values;
  for (std::int64_t row = block.row; row < block.row + block.rows; ++row)
    for (std::int64_t column = block.column; column < block.column + block.columns; ++column)
      values.push_back(weights[static_cast<std::size_t>(row * shape.columns + column)]);
  return values;
}

Block block_around(std::int64_t index, MatrixShape shape, Recipe recipe) {
  MatrixShape const blocks = scales_of(recipe, shape);
  Block block{.rows = shape.rows / blocks.rows, .columns = shape.columns / blocks.columns};
  block.row = index / shape.columns / block.rows * block.rows;
  block.column = index % shape.columns / block.columns * block.columns;
  return block;
}

class Quantising {
 public:
  Quantising(Trace& trace, std::span<float const> weights, MatrixShape shape, Recipe recipe)
      : trace_(trace), weights_(weights), shape_(shape), recipe_(recipe) {}

  Term run(DelayedScale const& delayed, std::int64_t index) {
    Term const w = trace_.given("main", weights_[static_cast<std::size_t>(index)]);
    block_ = block_around(index, shape_, recipe_);
    switch (recipe_) {
      case Recipe::fp8_delayed:
        return by_delayed(w, delayed);
      case Recipe::fp8_current:
        return by_scale(w, scale_to("s", amax_of_all(), 448));
      case Recipe::fp8_block: {
        Term const s = scale_to("448 / amax", amax_of_block(), 448);
        auto const bits = std::bit_cast<std::uint32_t>(s.fp32()) & 0xff800000U;
        return by_scale(
            w, trace_.noted("s", "power of two not above", {s}, std::bit_cast<float>(bits)));
      }
      case Recipe::mxfp8:
        return by_mxfp8(w);
      case Recipe::nvfp4:
        break;
    }
    return by_nvfp4(w);
  }

 private:
  Term amax_of_all() { return trace_.noted("amax", "max |main| of all", {}, amax_in(weights_)); }
  Term amax_of_block() {
    return trace_.noted("amax", "max |main| of the block", {},
                        amax_in(values_in(block_, weights_, shape_)));
  }

  /// `range` / amax: 1 where there is none, at most the largest number.
  Term scale_to(std::string const& name, Term const& amax, float range) {
    if (amax.value == 0 || std::isinf(amax.value))
      return trace_.noted(name, "1 where amax is 0 or infinite", {amax}, 1);
    Term const quotient = trace_.quotient(name, trace_.given("range", range), amax);
    if (!std::isinf(quotient.value)) return quotient;
    return trace_.noted(name, "the largest number for infinity", {quotient}, largest_float);
  }

  Term code(Term const& x, SmallFormat format) {
    float const value = value_of(code_of(x.fp32(), format), format);
    return trace_.kept("code", x, value, format == SmallFormat::e2m1 ? as_e2m1 : as_e4m3);
  }

  Term by_scale(Term const& w, Term const& s) {
    Term const scale = trace_.quotient("scale", trace_.given("1", 1), s);
    Term const q = code(trace_.product("main * s", w, s), SmallFormat::e4m3);
    return trace_.product("parameter", q, scale);
  }

  Term by_delayed(Term const& w, DelayedScale const& delayed) {
    Term const amax = amax_of_all();
    float largest = amax.fp32();
    for (std::size_t i = 1; i < delayed.history.size(); ++i)
      largest = std::max(largest, delayed.history[i]);
    Term const of_history = trace_.noted("largest", "of the history, with amax", {amax}, largest);
    if (largest > 0 && std::isfinite(largest))
      scale_to("next_scale", of_history, 448);
    else
      trace_.noted("next_scale", "unchanged", {}, delayed.next);
    return by_scale(w, trace_.noted("s", "of the amaxes before", {}, delayed.next));
  }

  Term by_mxfp8(Term const& w) {
    Term const amax = amax_of_block();
    Term const inverse = trace_.quotient("1/448", trace_.given("1", 1), trace_.given("448", 448));
    Term const wanted = trace_.product("amax/448", amax, inverse);
    std::uint8_t const byte = e8m0_not_below(wanted.fp32());
    Term const scale =
        trace_.noted("scale", "e8m0, rounded up", {wanted}, value_of_e8m0(byte), "e8m0");
    Term const s = trace_.noted("s", "2^(127 - byte)", {scale}, std::ldexp(1.0F, 127 - byte));
    Term const q = code(trace_.product("main * s", w, s), SmallFormat::e4m3);
    return trace_.product("parameter", q, scale);
  }

  Term by_nvfp4(Term const& w) {
    Term const s = scale_to("S", amax_of_all(), 2688);
    Term const block = amax_of_block();
    Term const one = trace_.given("1", 1);
    Term const sixth = trace_.quotient("1/6", one, trace_.given("6", 6));
    Term const wanted = trace_.product("amax * S/6", block, trace_.product("S/6", s, sixth));
    Term const scale_code = trace_.kept(
        "scale code", wanted,
        value_of(code_of(wanted.fp32(), SmallFormat::e4m3), SmallFormat::e4m3), as_e4m3);
    Term const scale = trace_.product("scale", scale_code, trace_.quotient("1/S", one, s));
    Term into = trace_.quotient("1/scale", one, scale);
    if (into.fp32() > largest_float)
      into = trace_.noted("1/scale", "the largest number for infinity", {into}, largest_float);
    Term const q = code(trace_.product("main / scale", w, into), SmallFormat::e2m1);
    return trace_.product("parameter", q, scale);
  }

  Trace& trace_;
  std::span<float const> weights_;
  MatrixShape shape_;
  Recipe recipe_;
  Block block_;
};

}  // namespace

Term trace_scaled(Trace& trace, Unstored const& x, NumberFormat format) {
  float const range = format == NumberFormat::fp16 ? 32752.0F : 448.0F;
  Term const amax = trace.noted("amax", "largest finite magnitude of all that share the scale", {},
                                amax_of(x.sharing));
  Term scale = trace.noted("scale", "1 where amax is 0", {amax}, 1);
  if (amax.value != 0) {
    Term const quotient = trace.quotient("amax/range", amax, trace.given("range", range));
    scale = trace.noted("scale", "max(amax/range, 2^-126)", {quotient},
                        std::max(quotient.fp32(), 0x1p-126F));
  }
  Term const inverse = trace.quotient("1/scale", trace.given("1", 1), scale);
  Term const divided = trace.product(x.term.name + "/scale", x.term, inverse);
  std::uint16_t const stored = stored_scaled(x.term.fp32(), scale.fp32(), format);
  float const code = value_of_scaled(stored, 1, format);
  Term const kept =
      trace.kept("code", divided, code,
                 format == NumberFormat::fp16 ? Trace::Kept{"fp16", 11, 0x1p-24} : as_e4m3);
  return trace.product("read", kept, scale);
}

Term trace_split(Trace& trace, Term const& weight) {
  float const upper = value_of(split(weight.fp32()).parameter, NumberFormat::bf16);
  return trace.kept("parameter", weight, upper,
                    {"bf16, ties away from zero", 8, smallest_positive(NumberFormat::bf16)});
}

Term trace_quantised(Trace& trace, std::span<float const> weights, MatrixShape shape, Recipe recipe,
                     DelayedScale const& delayed, std::int64_t index) {
  return Quantising(trace, weights, shape, recipe).run(delayed, index);
}

}  // namespace adamant::oracle
