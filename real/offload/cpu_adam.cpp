// Reads g w m v and writes w m v in place: 16 + 12 = 28 bytes an element. Two divisions and a root
// take about half of the time that memory takes, and they keep it waiting: a processor holds too
// few elements at once to reach far ahead of them. So the loop asks for what comes 4 KiB later.
// Measured on a Xeon with AVX-512, as a part of the rate of the fastest bare stream of the same
// traffic: 0.96 without, 0.97 with 2 KiB, 1.02 with 4 and 0.91 with 8. Non-temporal stores and
// staging in the first cache lose.
#include "real/offload/cpu_adam.h"

#include <algorithm>
#include <type_traits>

#include "real/cuda/state_numbers.h"
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
#define ADAMANT_AVX512 "avx512f,avx512dq,avx512vl"
#else
#define ADAMANT_AVX512 "avx512f,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace adamant::real {

namespace {

constexpr std::int64_t line_numel = 16;  // of a cache line
constexpr std::int64_t block_numel = 4 * line_numel;
constexpr std::int64_t ahead_numel = 16 * block_numel;

/// Asks for one block of each array. No access: what is asked for may be anything.
[[gnu::always_inline]] inline void fetch(CpuAdamArrays const& at) {
  for (std::int64_t i = 0; i < block_numel; i += line_numel) {
    __builtin_prefetch(at.weights + i, 1);
    __builtin_prefetch(at.gradients + i, 0);
    __builtin_prefetch(at.exp_avg + i, 1);
    __builtin_prefetch(at.exp_avg_sq + i, 1);
  }
}

template <bool decoupled>
[[gnu::always_inline]] inline void update(StepScalars const& scalars, CpuAdamArrays const& arrays,
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

[[gnu::always_inline]] inline void update_any(StepScalars const& scalars,
                                              CpuAdamArrays const& arrays, std::int64_t count) {
  if (scalars.decoupled != 0)
    update<true>(scalars, arrays, count);
  else
    update<false>(scalars, arrays, count);
}

void update_narrow(StepScalars const& scalars, CpuAdamArrays const& arrays, std::int64_t count) {
  update_any(scalars, arrays, count);
}

#if ADAMANT_WIDE_VECTORS
[[gnu::target("avx2")]] void update_avx2(StepScalars const& scalars, CpuAdamArrays const& arrays,
                                         std::int64_t count) {
  update_any(scalars, arrays, count);
}

[[gnu::target(ADAMANT_AVX512)]] void update_avx512(StepScalars const& scalars,
                                                   CpuAdamArrays const& arrays,
                                                   std::int64_t count) {
  update_any(scalars, arrays, count);
}

Vectors find_widest() {
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
      __builtin_cpu_supports("avx512vl") != 0)
    return Vectors::avx512;
  return __builtin_cpu_supports("avx2") != 0 ? Vectors::avx2 : Vectors::narrow;
}
#endif

// ---- any formats -------------------------------------------------------------------------------

constexpr std::int64_t lanes = 512;  // of each array, widened: they stay in the first cache

bool multiplies(CpuAdamNumbers const& numbers) {
  return numbers.inverse != 1 || numbers.coefficient != 1;
}

/// A few elements of an array in fp32: in place where that is how they are stored, otherwise
/// widened into room beside it.
class Widened {
 public:
  void load(Numbers const& numbers, float scale, std::int64_t begin, std::int64_t count) {
    with_type_of(numbers.format, [&]<typename T>(T*) {
      T* const from = static_cast<T*>(numbers.data) + begin;
      if constexpr (std::is_same_v<T, float>) {
        at_ = from;
      } else {
        for (std::int64_t i = 0; i < count; ++i) room_[i] = widened(from[i]) * scale;
        at_ = room_;
      }
    });
  }
  void store(Numbers const& numbers, float scale, std::int64_t begin, std::int64_t count) const {
    float const inverse = 1 / scale;
    with_type_of(numbers.format, [&]<typename T>(T*) {
      T* const to = static_cast<T*>(numbers.data) + begin;
      if constexpr (std::is_same_v<T, float>)
        if (to == at_) return;
      for (std::int64_t i = 0; i < count; ++i) to[i] = stored<T>(at_[i] * inverse);
    });
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
      std::uint32_t const magnitude = __builtin_bit_cast(std::uint32_t, at_[i]) & 0x7fffffffU;
      largest = std::max(largest, magnitude < 0x7f800000U ? magnitude : 0U);
    }
    return __builtin_bit_cast(float, largest);
  }
  float* at() const { return at_; }

 private:
  alignas(64) float room_[lanes];
  float* at_ = nullptr;
};

/// Some elements of all arrays.
struct WidenedStep {
  Widened w, g, m, v;

  void load(CpuAdamNumbers const& numbers, std::int64_t begin, std::int64_t count) {
    if (numbers.weights.format == NumberFormat::remainder)
      w.join(static_cast<__nv_bfloat16 const*>(numbers.parameter.data) + begin,
             static_cast<std::uint16_t const*>(numbers.weights.data) + begin, count);
    else
      w.load(numbers.weights, numbers.scales.weight.now, begin, count);
    g.load(numbers.gradients, 1, begin, count);
    if (multiplies(numbers)) g.multiply(numbers.inverse, numbers.coefficient, count);
    m.load(numbers.exp_avg, numbers.scales.exp_avg.now, begin, count);
    v.load(numbers.exp_avg_sq, numbers.scales.exp_avg_sq.now, begin, count);
  }
  void store(CpuAdamNumbers const& numbers, std::int64_t begin, std::int64_t count) const {
    m.store(numbers.exp_avg, numbers.scales.exp_avg.next, begin, count);
    v.store(numbers.exp_avg_sq, numbers.scales.exp_avg_sq.next, begin, count);
    if (numbers.weights.format == NumberFormat::remainder) {
      w.split_into(static_cast<__nv_bfloat16*>(numbers.parameter.data) + begin,
                   static_cast<std::uint16_t*>(numbers.weights.data) + begin, count);
      return;
    }
    w.store(numbers.weights, numbers.scales.weight.next, begin, count);
    if (numbers.copies) w.store(numbers.parameter, 1, begin, count);
  }
  void step(StepScalars const& scalars, std::int64_t count, Vectors vectors) {
    cpu_adam(scalars, CpuAdamArrays{w.at(), g.at(), m.at(), v.at()}, count, vectors);
  }
};

bool all_fp32(CpuAdamNumbers const& numbers) {
  for (Numbers const* array :
       {&numbers.weights, &numbers.gradients, &numbers.exp_avg, &numbers.exp_avg_sq})
    if (array->format != NumberFormat::fp32) return false;
  return true;
}

float* as_fp32(Numbers const& numbers) {
  return static_cast<float*>(numbers.data);
}

}  // namespace

Vectors widest_vectors() {
#if ADAMANT_WIDE_VECTORS
  static Vectors const widest = find_widest();
  return widest;
#else
  return Vectors::narrow;
#endif
}

void cpu_adam(StepScalars const& scalars, CpuAdamArrays const& arrays, std::int64_t count,
              Vectors vectors) {
#if ADAMANT_WIDE_VECTORS
  if (vectors == Vectors::avx512) return update_avx512(scalars, arrays, count);
  if (vectors == Vectors::avx2) return update_avx2(scalars, arrays, count);
#else
  static_cast<void>(vectors);
#endif
  update_narrow(scalars, arrays, count);
}

void cpu_adam(StepScalars const& scalars, CpuAdamNumbers const& numbers, std::int64_t count,
              Vectors vectors) {
  if (all_fp32(numbers) && !numbers.copies && !multiplies(numbers))
    return cpu_adam(scalars,
                    CpuAdamArrays{as_fp32(numbers.weights), as_fp32(numbers.gradients),
                                  as_fp32(numbers.exp_avg), as_fp32(numbers.exp_avg_sq)},
                    count, vectors);
  WidenedStep step;
  for (std::int64_t begin = 0; begin < count; begin += lanes) {
    std::int64_t const part = std::min(lanes, count - begin);
    step.load(numbers, begin, part);
    step.step(scalars, part, vectors);
    step.store(numbers, begin, part);
  }
}

CpuAmaxes cpu_adam_amaxes(StepScalars const& scalars, CpuAdamNumbers const& numbers,
                          std::int64_t count, Vectors vectors) {
  CpuAmaxes amaxes;
  WidenedStep step;
  for (std::int64_t begin = 0; begin < count; begin += lanes) {
    std::int64_t const part = std::min(lanes, count - begin);
    step.load(numbers, begin, part);
    step.w.detach(part);
    step.m.detach(part);
    step.v.detach(part);
    step.step(scalars, part, vectors);
    amaxes.weight = std::max(amaxes.weight, step.w.amax(part));
    amaxes.exp_avg = std::max(amaxes.exp_avg, step.m.amax(part));
    amaxes.exp_avg_sq = std::max(amaxes.exp_avg_sq, step.v.amax(part));
  }
  return amaxes;
}

}  // namespace adamant::real
