// Loops of the CPU's step that take turns over the same arrays: what the suites of it share.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "real/offload/cpu_adam.h"
#include "real/offload/runs.h"
#include "real/offload/thread_crew.h"
#include "scenarios/bench/measure.h"
#include "scenarios/bench/placed_memory.h"
#include "scenarios/bench/rounds.h"

namespace adamant::scenarios {

inline constexpr int contest_rounds = 21;

/// The arrays of a step.
enum class CpuArray { weights, gradients, exp_avg, exp_avg_sq, parameter };

struct CpuFormats {
  char const* name;
  std::array<NumberFormat, 4> formats;  // of weights, gradients and both moments
  bool copies;                          // the parameter is a bf16 copy of the weights
};

/// All arrays of a step of some formats, in huge pages where the system gives them.
class CpuArrays {
 public:
  CpuArrays(CpuFormats const& formats, MemoryPlacement placement, std::int64_t count)
      : is_(formats), count_(count), memory_(formats.copies ? 5 : 4, count * 4, placement) {
    reset();
  }

  void reset() {
    for (std::int64_t i = 0; i < count_; ++i) {
      put(CpuArray::weights, i, 1.0F);
      put(CpuArray::gradients, i, 1e-3F * static_cast<float>(i % 7 - 3));
      put(CpuArray::exp_avg, i, 0.0F);
      put(CpuArray::exp_avg_sq, i, 0.0F);
      if (is_.copies) put(CpuArray::parameter, i, 1.0F);
    }
  }
  real::CpuAdamNumbers from(std::int64_t begin) const {
    auto const at = [&](CpuArray array) {
      return real::Numbers{data(array) + begin * bytes(array), format(array)};
    };
    return {.weights = at(CpuArray::weights),
            .gradients = at(CpuArray::gradients),
            .exp_avg = at(CpuArray::exp_avg),
            .exp_avg_sq = at(CpuArray::exp_avg_sq),
            .parameter = is_.copies ? at(CpuArray::parameter) : real::Numbers{},
            .copies = is_.copies};
  }
  std::byte* data(CpuArray array) const { return memory_.array(static_cast<int>(array)); }
  /// REQUIRES: it is in fp32.
  float* floats(CpuArray array) const { return reinterpret_cast<float*>(data(array)); }
  NumberFormat format(CpuArray array) const {
    return array == CpuArray::parameter ? NumberFormat::bf16
                                        : is_.formats[static_cast<std::size_t>(array)];
  }
  std::int64_t bytes(CpuArray array) const {
    return static_cast<std::int64_t>(bytes_of(format(array)));
  }
  bool copies() const { return is_.copies; }
  PlacedMemory const& memory() const { return memory_; }

 private:
  void put(CpuArray array, std::int64_t i, float value) {
    std::byte* const at = data(array) + i * bytes(array);
    real::with_type_of(format(array),
                       [&]<typename T>(T*) { *reinterpret_cast<T*>(at) = real::stored<T>(value); });
  }

  CpuFormats is_;
  std::int64_t count_;
  PlacedMemory memory_;
};

/// Threads that run a loop over elements of several tensors, one after the other in all arrays.
class CpuContest {
 public:
  using Loop = std::function<void(std::int64_t begin, std::int64_t count)>;

  /// `ends[i]`: how many elements tensors 0 … i have.
  CpuContest(int threads, std::vector<std::int64_t> ends)
      : ends_(std::move(ends)), crew_(threads, pin_to) {}

  double seconds(Loop const& loop) {
    pause_between_contenders();
    return seconds_of([&] {
      crew_.parallel_for(crew_.count(), [&](int chunk) {
        auto const range = real::chunk_of(ends_.back(), chunk, crew_.count());
        real::for_each_run(ends_, range,
                           [&](std::size_t tensor, std::int64_t first, std::int64_t count) {
                             loop((tensor == 0 ? 0 : ends_[tensor - 1]) + first, count);
                           });
      });
    });
  }
  /// Of each loop, a value a round.
  std::vector<std::vector<double>> by_turns(std::vector<Loop> const& loops) {
    std::vector<std::function<double()>> contenders;
    for (Loop const& loop : loops) contenders.push_back([&] { return seconds(loop); });
    return scenarios::by_turns(contest_rounds, contenders);
  }

 private:
  std::vector<std::int64_t> ends_;
  real::ThreadCrew crew_;
};

}  // namespace adamant::scenarios
