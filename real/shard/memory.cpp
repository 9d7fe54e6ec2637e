#include "real/shard/memory.h"

#include <utility>

#include "real/cuda/assert.h"
#include "real/cuda/error.h"

namespace adamant::real {

DeviceBuffer::DeviceBuffer(Ledger& ledger, Purpose purpose, std::size_t bytes, Stream const& stream)
    : ledger_(&ledger), stream_(&stream), bytes_(bytes) {
  if (bytes == 0) return;
  ADAMANT_TRY(cudaMallocAsync(&data_, bytes, stream.get()));
  ledger.add({.address = data_, .bytes = bytes, .purpose = purpose});
}

// A destructor may run while an error unwinds, when the device refuses everything: nobody is left
// to hear of a second error.
DeviceBuffer::~DeviceBuffer() {
  if (data_ == nullptr) return;
  ledger_->remove(data_);
  static_cast<void>(cudaFreeAsync(data_, stream_->get()));
}

DeviceBuffer::DeviceBuffer(DeviceBuffer&& other) noexcept {
  swap(other);
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  DeviceBuffer taken(std::move(other));
  swap(taken);
  return *this;
}

void DeviceBuffer::free_on(Stream const& stream) {
  if (data_ == nullptr) return;
  void* const data = std::exchange(data_, nullptr);
  ledger_->remove(data);
  ADAMANT_TRY(cudaFreeAsync(data, stream.get()));
}

void DeviceBuffer::swap(DeviceBuffer& other) noexcept {
  std::swap(ledger_, other.ledger_);
  std::swap(stream_, other.stream_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

PinnedBuffer::PinnedBuffer(Ledger& ledger, Purpose purpose, std::size_t bytes) : ledger_(&ledger) {
  if (bytes == 0) return;
  ADAMANT_TRY(cudaHostAlloc(&data_, bytes, cudaHostAllocDefault));
  ledger.add({.address = data_, .bytes = bytes, .purpose = purpose, .on_host = true});
}

PinnedBuffer::~PinnedBuffer() {
  if (data_ == nullptr) return;
  ledger_->remove(data_);
  static_cast<void>(cudaFreeHost(data_));
}

void zero_async(DeviceBuffer const& buffer, std::size_t begin, std::size_t end,
                Stream const& stream) {
  ADAMANT_REAL_ASSERT(end <= buffer.bytes());
  if (begin >= end) return;
  ADAMANT_TRY(cudaMemsetAsync(buffer.as<char>() + begin, 0, end - begin, stream.get()));
}

}  // namespace adamant::real
