// Reads g w m v and writes w m v in place: 16 + 12 = 28 bytes an element. Two divisions and a root
// take about half of the time that memory takes, and they keep it waiting: a processor holds too
// few elements at once to reach far ahead of them. So the loop asks for what comes 4 KiB later.
// Measured on a Xeon with AVX-512, as a part of the rate of the fastest bare stream of the same
// traffic: 0.96 without, 0.97 with 2 KiB, 1.02 with 4 and 0.91 with 8. Non-temporal stores and
// staging in the first cache lose.
#include "real/offload/cpu_adam.h"

#include <algorithm>

#include "real/cuda/state_numbers.h"
#include "real/offload/cpu_adam_loops.h"
#include "real/step/adam_element.h"

// Where the compiler reports accesses, wide vectors would go unseen.
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define ADAMANT_WIDE_VECTORS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ADAMANT_WIDE_VECTORS 0
#else
#define ADAMANT_WIDE_VECTORS 1
#endif
#else
#define ADAMANT_WIDE_VECTORS 1
#endif

// What g++ would do with half the width unless told; clang has no such word here.
#ifdef __clang__
#define ADAMANT_AVX512 "avx512f,avx512bw,avx512dq,avx512vl"
#else
#define ADAMANT_AVX512 "avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace adamant::real {

namespace {

using namespace cpu_loops;

constexpr std::int64_t line_numel = 16;  // of a cache line
constexpr std::int64_t block_numel = 4 * line_numel;
constexpr std::int64_t ahead_numel = 16 * block_numel;

/// Asks for one block of each array. No access: what is asked for may be anything.
ADAMANT_INLINED void fetch(CpuAdamArrays const& at) {
  for (std::int64_t i = 0; i < block_numel; i += line_numel) {
    __builtin_prefetch(at.weights + i, 1);
    __builtin_prefetch(at.gradients + i, 0);
    __builtin_prefetch(at.exp_avg + i, 1);
    __builtin_prefetch(at.exp_avg_sq + i, 1);
  }
}

template <bool decoupled>
ADAMANT_INLINED void update(StepScalars const& scalars, CpuAdamArrays const& arrays,
                            std::int64_t count) {
  StepScalars const s = scalars;  // a copy that no store in the loop can alias
  float* __restrict const w = arrays.weights;
  float const* __restrict const g = arrays.gradients;
  float* __restrict const m = arrays.exp_avg;
  float* __restrict const v = arrays.exp_avg_sq;
  for (std::int64_t begin = 0; begin < count; begin += block_numel) {
    if (begin + ahead_numel + block_numel <= count) fetch(arrays.from(begin + ahead_numel));
    std::int64_t const end = begin + block_numel < count ? begin + block_numel : count;
    for (std::int64_t i = begin; i < end; ++i) {
      AdamElement const e = adam_element<decoupled>(s, g[i], {.p = w[i], .m = m[i], .v = v[i]});
      w[i] = e.p;
      m[i] = e.m;
      v[i] = e.v;
    }
  }
}

// ---- which loop --------------------------------------------------------------------------------

bool multiplies(CpuAdamNumbers const& numbers) {
  return numbers.inverse != 1 || numbers.coefficient != 1;
}

bool moments_are(CpuAdamNumbers const& numbers, NumberFormat format) {
  return numbers.exp_avg.format == format && numbers.exp_avg_sq.format == format;
}

bool all_are(CpuAdamNumbers const& numbers, NumberFormat format) {
  return numbers.weights.format == format && numbers.gradients.format == format &&
         moments_are(numbers, format) && !numbers.copies;
}

/// fp32 moments and a gradient in fp32 or bf16, for weights of `format` beside a bf16 parameter.
bool has_bf16_beside(CpuAdamNumbers const& numbers, NumberFormat format) {
  bool const known_gradient = numbers.gradients.format == NumberFormat::fp32 ||
                              numbers.gradients.format == NumberFormat::bf16;
  return numbers.weights.format == format && numbers.copies && known_gradient &&
         numbers.parameter.format == NumberFormat::bf16 && moments_are(numbers, NumberFormat::fp32);
}

/// How many elements, from the first, a loop of their own has stepped.
template <bool decoupled>
ADAMANT_INLINED std::int64_t step_in_registers(StepScalars const& scalars,
                                               CpuAdamNumbers const& numbers, std::int64_t count) {
  bool const wide_gradients = numbers.gradients.format == NumberFormat::fp32;
  if (all_are(numbers, NumberFormat::fp32) && !multiplies(numbers)) {
    update<decoupled>(
        scalars,
        {static_cast<float*>(numbers.weights.data),
         static_cast<float const*>(numbers.gradients.data),
         static_cast<float*>(numbers.exp_avg.data), static_cast<float*>(numbers.exp_avg_sq.data)},
        count);
  } else if (has_bf16_beside(numbers, NumberFormat::fp32)) {
    if (wide_gradients)
      step_with_copy<decoupled, float>(scalars, numbers, count);
    else
      step_with_copy<decoupled, std::uint16_t>(scalars, numbers, count);
  } else if (has_bf16_beside(numbers, NumberFormat::remainder)) {
    if (wide_gradients)
      step_split<decoupled, float>(scalars, numbers, count);
    else
      step_split<decoupled, std::uint16_t>(scalars, numbers, count);
  } else if (all_are(numbers, NumberFormat::bf16)) {
    count = count / 2 * 2;
    if (multiplies(numbers))
      step_bf16<decoupled, true>(scalars, numbers, count);
    else
      step_bf16<decoupled, false>(scalars, numbers, count);
  } else {
    return 0;
  }
  return count;
}

ADAMANT_INLINED void widen_any(Numbers const& numbers, std::int64_t begin, std::int64_t count,
                               float scale, float* to) {
  switch (numbers.format) {
    case NumberFormat::fp32:
      return widen(static_cast<float const*>(numbers.data) + begin, scale, to, count);
    case NumberFormat::bf16:
      return widen(static_cast<__nv_bfloat16 const*>(numbers.data) + begin, scale, to, count);
    case NumberFormat::fp16:
      return widen(static_cast<__half const*>(numbers.data) + begin, scale, to, count);
    case NumberFormat::fp8:
      return widen(static_cast<Fp8 const*>(numbers.data) + begin, scale, to, count);
    case NumberFormat::remainder:
      return;
  }
}

ADAMANT_INLINED void store_any(float const* from, float scale, Numbers const& numbers,
                               std::int64_t begin, std::int64_t count) {
  float const inverse = 1 / scale;
  switch (numbers.format) {
    case NumberFormat::fp32:
      return store(from, inverse, static_cast<float*>(numbers.data) + begin, count);
    case NumberFormat::bf16:
      return store(from, inverse, static_cast<__nv_bfloat16*>(numbers.data) + begin, count);
    case NumberFormat::fp16:
      return store(from, inverse, static_cast<__half*>(numbers.data) + begin, count);
    case NumberFormat::fp8:
      return store(from, inverse, static_cast<Fp8*>(numbers.data) + begin, count);
    case NumberFormat::remainder:
      return;
  }
}

// ---- once for each width of registers ----------------------------------------------------------

struct Loops {
  void (*fp32)(StepScalars const&, CpuAdamArrays const&, std::int64_t);
  std::int64_t (*in_registers)(StepScalars const&, CpuAdamNumbers const&, std::int64_t);
  void (*widen)(Numbers const&, std::int64_t begin, std::int64_t count, float scale, float* to);
  void (*store)(float const* from, float scale, Numbers const&, std::int64_t begin,
                std::int64_t count);
};

#define ADAMANT_LOOPS(name, ...)                                                                  \
  struct name {                                                                                   \
    __VA_ARGS__ static void fp32(StepScalars const& scalars, CpuAdamArrays const& arrays,         \
                                 std::int64_t count) {                                            \
      if (scalars.decoupled != 0)                                                                 \
        update<true>(scalars, arrays, count);                                                     \
      else                                                                                        \
        update<false>(scalars, arrays, count);                                                    \
    }                                                                                             \
    __VA_ARGS__ static std::int64_t in_registers(StepScalars const& scalars,                      \
                                                 CpuAdamNumbers const& numbers,                   \
                                                 std::int64_t count) {                            \
      return scalars.decoupled != 0 ? step_in_registers<true>(scalars, numbers, count)            \
                                    : step_in_registers<false>(scalars, numbers, count);          \
    }                                                                                             \
    __VA_ARGS__ static void widen(Numbers const& numbers, std::int64_t begin, std::int64_t count, \
                                  float scale, float* to) {                                       \
      widen_any(numbers, begin, count, scale, to);                                                \
    }                                                                                             \
    __VA_ARGS__ static void store(float const* from, float scale, Numbers const& numbers,         \
                                  std::int64_t begin, std::int64_t count) {                       \
      store_any(from, scale, numbers, begin, count);                                              \
    }                                                                                             \
    static constexpr Loops all = {fp32, in_registers, widen, store};                              \
  };

ADAMANT_LOOPS(Narrow)

#if ADAMANT_WIDE_VECTORS
ADAMANT_LOOPS(Avx2, [[gnu::target("avx2")]])
ADAMANT_LOOPS(Avx512, [[gnu::target(ADAMANT_AVX512)]])

Vectors find_widest() {
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return Vectors::avx512;
  return __builtin_cpu_supports("avx2") != 0 ? Vectors::avx2 : Vectors::narrow;
}

Loops const& loops_for(Vectors vectors) {
  if (vectors == Vectors::avx512) return Avx512::all;
  return vectors == Vectors::avx2 ? Avx2::all : Narrow::all;
}
#else
Vectors find_widest() {
  return Vectors::narrow;
}

Loops const& loops_for(Vectors) {
  return Narrow::all;
}
#endif

// ---- any formats -------------------------------------------------------------------------------

constexpr std::int64_t lanes = 512;  // of each array, widened: they stay in the first cache

/// A few elements of an array in fp32: in place where that is how they are stored, otherwise
/// widened into room beside it.
class Widened {
 public:
  void load(Loops const& loops, Numbers const& numbers, float scale, std::int64_t begin,
            std::int64_t count) {
    at_ = numbers.format == NumberFormat::fp32 ? static_cast<float*>(numbers.data) + begin : room_;
    if (at_ == room_) loops.widen(numbers, begin, count, scale, room_);
  }
  void store(Loops const& loops, Numbers const& numbers, float scale, std::int64_t begin,
             std::int64_t count) const {
    bool const fp32 = numbers.format == NumberFormat::fp32;
    if (fp32 && at_ == static_cast<float*>(numbers.data) + begin) return;
    loops.store(at_, scale, numbers, begin, count);
  }
  void join(__nv_bfloat16 const* parameter, std::uint16_t const* remainder, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i)
      room_[i] = joined({__bfloat16_as_ushort(parameter[i]), remainder[i]});
    at_ = room_;
  }
  void split_into(__nv_bfloat16* parameter, std::uint16_t* remainder, std::int64_t count) const {
    for (std::int64_t i = 0; i < count; ++i) {
      SplitWeight const parts = split(at_[i]);
      parameter[i] = __ushort_as_bfloat16(parts.parameter);
      remainder[i] = parts.remainder;
    }
  }
  /// In room of its own: the array stays as it is.
  void multiply(float inverse, float coefficient, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) room_[i] = at_[i] * inverse * coefficient;
    at_ = room_;
  }
  /// The array stays as it is, whatever happens to what is widened.
  void detach(std::int64_t count) {
    if (at_ != room_) std::copy_n(at_, count, room_);
    at_ = room_;
  }
  /// The largest finite magnitude, 0 if there is none. The bits of magnitudes are ordered as they
  /// are.
  float amax(std::int64_t count) const {
    std::uint32_t largest = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint32_t const magnitude = bits_of(at_[i]) & 0x7fffffffU;
      largest = std::max(largest, magnitude < 0x7f800000U ? magnitude : 0U);
    }
    return from_bits(largest);
  }
  float* at() const { return at_; }

 private:
  alignas(64) float room_[lanes];
  float* at_ = nullptr;
};

/// Some elements of all arrays.
struct WidenedStep {
  Loops const& loops;
  CpuAdamNumbers const& numbers;
  Widened w, g, m, v;

  WidenedStep(Loops const& loops_of, CpuAdamNumbers const& numbers_of)
      : loops(loops_of), numbers(numbers_of) {}

  void load(std::int64_t begin, std::int64_t count) {
    if (numbers.weights.format == NumberFormat::remainder)
      w.join(static_cast<__nv_bfloat16 const*>(numbers.parameter.data) + begin,
             static_cast<std::uint16_t const*>(numbers.weights.data) + begin, count);
    else
      w.load(loops, numbers.weights, numbers.scales.weight.now, begin, count);
    g.load(loops, numbers.gradients, 1, begin, count);
    if (multiplies(numbers)) g.multiply(numbers.inverse, numbers.coefficient, count);
    m.load(loops, numbers.exp_avg, numbers.scales.exp_avg.now, begin, count);
    v.load(loops, numbers.exp_avg_sq, numbers.scales.exp_avg_sq.now, begin, count);
  }
  void store(std::int64_t begin, std::int64_t count) const {
    m.store(loops, numbers.exp_avg, numbers.scales.exp_avg.next, begin, count);
    v.store(loops, numbers.exp_avg_sq, numbers.scales.exp_avg_sq.next, begin, count);
    if (numbers.weights.format == NumberFormat::remainder) {
      w.split_into(static_cast<__nv_bfloat16*>(numbers.parameter.data) + begin,
                   static_cast<std::uint16_t*>(numbers.weights.data) + begin, count);
      return;
    }
    w.store(loops, numbers.weights, numbers.scales.weight.next, begin, count);
    if (numbers.copies) w.store(loops, numbers.parameter, 1, begin, count);
  }
  void step(StepScalars const& scalars, std::int64_t count) {
    loops.fp32(scalars, CpuAdamArrays{w.at(), g.at(), m.at(), v.at()}, count);
  }
};

}  // namespace

Vectors widest_vectors() {
  static Vectors const widest = find_widest();
  return widest;
}

void cpu_adam(StepScalars const& scalars, CpuAdamArrays const& arrays, std::int64_t count,
              Vectors vectors) {
  loops_for(vectors).fp32(scalars, arrays, count);
}

void cpu_adam(StepScalars const& scalars, CpuAdamNumbers const& numbers, std::int64_t count,
              Vectors vectors) {
  Loops const& loops = loops_for(vectors);
  std::int64_t begin = loops.in_registers(scalars, numbers, count);
  if (begin == count) return;
  for (WidenedStep step(loops, numbers); begin < count; begin += lanes) {
    std::int64_t const part = std::min(lanes, count - begin);
    step.load(begin, part);
    step.step(scalars, part);
    step.store(begin, part);
  }
}

CpuAmaxes cpu_adam_amaxes(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                          std::int64_t count, Vectors vectors) {
  CpuAmaxes amaxes;
  WidenedStep step(loops_for(vectors), numbers);
  for (std::int64_t begin = 0; begin < count; begin += lanes) {
    std::int64_t const part = std::min(lanes, count - begin);
    step.load(begin, part);
    step.w.detach(part);
    step.m.detach(part);
    step.v.detach(part);
    step.step(scalars, part);
    amaxes.weight = std::max(amaxes.weight, step.w.amax(part));
    amaxes.exp_avg = std::max(amaxes.exp_avg, step.m.amax(part));
    amaxes.exp_avg_sq = std::max(amaxes.exp_avg_sq, step.v.amax(part));
  }
  return amaxes;
}

}  // namespace adamant::real
