// Owners of the engine's memory. Device memory is allocated and freed in the order of a stream that
// is always named; pinned host memory is not ordered with anything, so its owner must be destroyed
// after the last copy from it is done. Both keep the ledger.
#pragma once

#include <cstddef>

#include "real/cuda/handles.h"
#include "real/shard/ledger.h"

namespace adamant::real {

/// A device allocation, or nothing. Freed by `free_on`; what is still held at the end of its life
/// goes back in the order of the stream it came from. Not copyable: a copy would need a stream.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Nothing where `bytes` is 0.
  ///
  /// Stream: usable by work ordered after this point of `stream`, which outlives the buffer.
  /// Errors: CudaError.
  DeviceBuffer(Ledger& ledger, Purpose purpose, std::size_t bytes, Stream const& stream);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  /// Gives the memory back once `stream` gets here, and holds nothing. REQUIRES: every use of the
  /// memory is ordered before this point of `stream`.
  void free_on(Stream const& stream);

  explicit operator bool() const { return data_ != nullptr; }
  std::size_t bytes() const { return bytes_; }
  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  void swap(DeviceBuffer& other) noexcept;

  Ledger* ledger_ = nullptr;
  Stream const* stream_ = nullptr;
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Pinned host memory.
class PinnedBuffer {
 public:
  /// Nothing where `bytes` is 0. Errors: CudaError.
  PinnedBuffer(Ledger& ledger, Purpose purpose, std::size_t bytes);
  ~PinnedBuffer();
  PinnedBuffer(PinnedBuffer const&) = delete;
  PinnedBuffer& operator=(PinnedBuffer const&) = delete;

  template <typename T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  Ledger* ledger_;
  void* data_ = nullptr;
};

/// Enqueues zeros over the bytes [begin, end) of `buffer`; nothing where the range is empty.
void zero_async(DeviceBuffer const& buffer, std::size_t begin, std::size_t end,
                Stream const& stream);

}  // namespace adamant::real
