// What a block of the gradients' kernel does, once more for a CPU: many elements at a time, through
// copies in the first cache, in loops that make vector code. Only the simulator's unchecked engine
// takes it, which with the lanes of the kernel would need 2.5 times as long for GPT-2; the checked
// engine and GPUs have the lanes. The numbers have the same bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "real/cuda/numbers.h"
#include "scenarios/gradients/blocks.h"
#include "scenarios/gradients/task.h"

namespace adamant::scenarios {

template <typename T>
void widen_all(void const* from, std::size_t count, float* to) {
  T const* const numbers = static_cast<T const*>(from);
  for (std::size_t i = 0; i < count; ++i) to[i] = real::widened(numbers[i]);
}

template <typename T>
void narrow_all(float const* from, std::size_t count, void* to) {
  T* const numbers = static_cast<T*>(to);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = real::stored<T>(from[i]);
}

/// Widens `count` numbers of 16 bits.
inline void widen_block(void const* from, NumberFormat format, std::size_t count, float* to) {
  if (format == NumberFormat::bf16) return widen_all<__nv_bfloat16>(from, count, to);
  widen_all<__half>(from, count, to);
}

/// Rounds `count` values to 16 bits.
inline void narrow_block(float const* from, NumberFormat format, std::size_t count, void* to) {
  if (format == NumberFormat::bf16) return narrow_all<__nv_bfloat16>(from, count, to);
  narrow_all<__half>(from, count, to);
}

inline constexpr std::int64_t piece_numel = 1024;  // hashes and values stay in the first cache

/// Copies `count` elements from `begin` on out of device memory and widens them.
inline void read_block(real::Numbers const& from, std::int64_t begin, std::size_t count,
                       float* to) {
  auto const size = static_cast<std::size_t>(real::element_bytes(from.format));
  auto const* const source =
      static_cast<std::byte const*>(from.data) + static_cast<std::size_t>(begin) * size;
  if (from.format == NumberFormat::fp32) {
    std::memcpy(to, source, count * size);
  } else {
    std::uint16_t numbers[piece_numel];
    std::memcpy(numbers, source, count * size);
    widen_block(numbers, from.format, count, to);
  }
}

/// Copies `count` elements of a parameter from `begin` on, as they are read.
inline void read_value(GradientTask const& task, std::int64_t begin, std::size_t count, float* to) {
  if (task.quantised.codes == nullptr) return read_block(task.value, begin, count, to);
  for (std::size_t i = 0; i < count; ++i)
    to[i] = real::value_at(task.quantised, begin + static_cast<std::int64_t>(i));
}

/// Rounds `count` values and copies them into device memory.
inline void write_block(float const* from, std::size_t count, real::Numbers const& to,
                        std::int64_t begin) {
  auto const size = static_cast<std::size_t>(real::element_bytes(to.format));
  auto* const target = static_cast<std::byte*>(to.data) + static_cast<std::size_t>(begin) * size;
  if (to.format == NumberFormat::fp32) {
    std::memcpy(target, from, count * size);
  } else {
    std::uint16_t numbers[piece_numel];
    narrow_block(from, to.format, count, numbers);
    std::memcpy(target, numbers, count * size);
  }
}

/// Rounds values in place to what `format` can hold.
inline void round_block(NumberFormat format, std::span<float> values) {
  if (format == NumberFormat::fp32) return;
  std::uint16_t numbers[piece_numel];
  narrow_block(values.data(), format, values.size(), numbers);
  widen_block(numbers, format, values.size(), values.data());
}

/// Elements [begin, begin + count) of one tensor. Device memory is reached by memcpy alone.
inline std::uint64_t run_piece(GradientArguments const& a, GradientTask const& task,
                               std::int64_t begin, std::size_t count) {
  std::uint32_t hash_room[piece_numel];
  float values[piece_numel];
  float fresh[piece_numel];
  std::span<std::uint32_t> const hashes(hash_room, count);

  hash_block(task.key, static_cast<std::uint64_t>(begin), hashes);
  if (task.gradient.data != nullptr) {
    gradient_block(a.kind, task.microbatch, hashes, fresh);
    if (task.overflow_at >= begin && task.overflow_at - begin < static_cast<std::int64_t>(count))
      fresh[task.overflow_at - begin] = task.overflow_value;
    if (a.loss_scale != nullptr) scale_block(*a.loss_scale, {fresh, count});
    if (a.accumulate != 0) {
      round_block(task.gradient.format, {fresh, count});
      read_block(task.gradient, begin, count, values);
      add_block({fresh, count}, values);
      write_block(values, count, task.gradient, begin);
    } else {
      write_block(fresh, count, task.gradient, begin);
    }
  }
  if (task.partials == nullptr) return 0;
  read_value(task, begin, count, values);
  return fingerprint_block(hashes, values);
}

/// The part's share in the fingerprint.
inline std::uint64_t run_plain_loop(GradientArguments const& a, GradientTask const& task,
                                    Part const& part) {
  std::uint64_t sum = 0;
  for (std::int64_t begin = part.begin; begin < part.end; begin += piece_numel)
    sum += run_piece(a, task, begin,
                     static_cast<std::size_t>(std::min(piece_numel, part.end - begin)));
  return sum;
}

}  // namespace adamant::scenarios
