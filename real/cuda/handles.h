// Streams and events with owners. Every stream is non-blocking, every event is without timing, and
// none of them is ever the default one. They cannot be copied; destroying them does not wait.
#pragma once

#include <cuda_runtime.h>

#include <utility>

namespace adamant::real {

enum class StreamPriority { normal, high };

class Stream {
 public:
  /// Errors: CudaError.
  explicit Stream(StreamPriority priority = StreamPriority::normal);
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(Stream const&) = delete;
  Stream& operator=(Stream const&) = delete;

  cudaStream_t get() const { return stream_; }
  /// Blocks the host until everything enqueued so far is done.
  void synchronize() const;

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  /// Errors: CudaError.
  Event();
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  Event(Event const&) = delete;
  Event& operator=(Event const&) = delete;

  cudaEvent_t get() const { return event_; }
  /// Marks what is enqueued on `stream` so far; a later record replaces the mark.
  void record(Stream const& stream);
  /// Later work of `stream` starts after the mark. REQUIRES: recorded.
  void make_wait(Stream const& stream) const;
  /// Blocks the host until the mark is reached; returns at once if there is none yet.
  void synchronize() const;

 private:
  cudaEvent_t event_ = nullptr;
  bool recorded_ = false;
};

/// Later work of `later` starts after what is enqueued on `earlier` now.
void order(Stream const& earlier, Event& by, Stream const& later);

}  // namespace adamant::real
