// A device of a benchmark: arrays on it, numbers in them, and how long something takes there. It
// does not know what is measured.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "real/cuda/error.h"
#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"
#include "real/shard/memory.h"

namespace adamant::scenarios {

/// What numbers are drawn: about normal, of this standard deviation.
struct Draw {
  float sigma = 1;
  bool squared = false;  // each is squared after that, as second moments are
  std::uint32_t seed = 1;
};

class Device {
 public:
  real::Stream stream;

  /// Kept as long as the device, and usable on its stream.
  std::byte* room(std::size_t bytes);
  template <typename T>
  T* put(std::vector<T> const& values) {
    std::byte* const to = room(values.size() * sizeof(T));
    ADAMANT_TRY(cudaMemcpyAsync(to, values.data(), values.size() * sizeof(T),
                                cudaMemcpyHostToDevice, stream.get()));
    stream.synchronize();
    return reinterpret_cast<T*>(to);
  }
  template <typename T>
  std::vector<T> get(T const* from, std::int64_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), from, values.size() * sizeof(T),
                                cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return values;
  }
  void zero(void* to, std::size_t bytes) const {
    ADAMANT_TRY(cudaMemsetAsync(to, 0, bytes, stream.get()));
  }

  /// The same numbers each time. Remainders get bits.
  void fill(real::Numbers const& to, std::int64_t numel, Draw const& draw) const;
  /// How many bytes differ.
  std::int64_t differences(std::byte const* a, std::byte const* b, std::size_t bytes);

  /// Gives everything back, to be called between problems.
  void forget();

 private:
  real::Ledger ledger_;
  std::list<real::DeviceBuffer> kept_;
};

/// Two marks on a stream, and the time between them.
class Stopwatch {
 public:
  Stopwatch();
  ~Stopwatch();
  Stopwatch(Stopwatch const&) = delete;  // it owns two events
  Stopwatch& operator=(Stopwatch const&) = delete;

  /// Milliseconds that the device spends on what `enqueue` enqueues on `stream`; a little at least,
  /// because a simulator's clock may stand still.
  double time(real::Stream const& stream, std::function<void()> const& enqueue);

 private:
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

}  // namespace adamant::scenarios
