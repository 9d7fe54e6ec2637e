#include "real/cuda/handles.h"

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

Stream::Stream(StreamPriority priority) {
  int lowest = 0;
  int highest = 0;  // numerically the smaller one
  ADAMANT_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  int const value = priority == StreamPriority::high ? highest : lowest;
  ADAMANT_TRY(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, value));
}

void Stream::synchronize() const {
  ADAMANT_TRY(cudaStreamSynchronize(stream_));
}

Event::Event() {
  ADAMANT_TRY(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
}

void Event::record(Stream const& stream) {
  ADAMANT_TRY(cudaEventRecord(event_, stream.get()));
  recorded_ = true;
}

// Waiting for an event that was never recorded is legal and orders nothing: a silent mistake.
void Event::make_wait(Stream const& stream) const {
  ADAMANT_REAL_ASSERT(recorded_);
  ADAMANT_TRY(cudaStreamWaitEvent(stream.get(), event_, 0));
}

void Event::synchronize() const {
  if (recorded_) ADAMANT_TRY(cudaEventSynchronize(event_));
}

void order(Stream const& earlier, Event& by, Stream const& later) {
  by.record(earlier);
  by.make_wait(later);
}

}  // namespace adamant::real
