#include "scenarios/bench/gpu/device.h"

#include <algorithm>

namespace adamant::scenarios {

std::byte* Device::room(std::size_t bytes) {
  kept_.emplace_back(ledger_, Purpose::parameters, bytes, stream);
  return kept_.back().as<std::byte>();
}

void Device::forget() {
  kept_.clear();
  stream.synchronize();
}

Stopwatch::Stopwatch() {
  ADAMANT_TRY(cudaEventCreate(&begin_));
  ADAMANT_TRY(cudaEventCreate(&end_));
}

Stopwatch::~Stopwatch() {
  static_cast<void>(cudaEventDestroy(begin_));
  static_cast<void>(cudaEventDestroy(end_));
}

double Stopwatch::time(real::Stream const& stream, std::function<void()> const& enqueue) {
  ADAMANT_TRY(cudaEventRecord(begin_, stream.get()));
  enqueue();
  ADAMANT_TRY(cudaEventRecord(end_, stream.get()));
  ADAMANT_TRY(cudaEventSynchronize(end_));
  float milliseconds = 0;
  ADAMANT_TRY(cudaEventElapsedTime(&milliseconds, begin_, end_));
  return std::max(double{milliseconds}, 1e-6);
}

}  // namespace adamant::scenarios
