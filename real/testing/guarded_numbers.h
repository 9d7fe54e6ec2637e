// An array of numbers on a device for tests of kernels: it begins at any element behind a 16-byte
// boundary, and what lies around it is known, so that a write beyond an end is seen.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "real/cuda/error.h"
#include "real/cuda/handles.h"
#include "real/cuda/numbers.h"
#include "real/shard/memory.h"

namespace adamant::real {

class GuardedNumbers {
 public:
  /// `before` elements lie between a boundary and the first of `values`, which are rounded.
  GuardedNumbers(std::span<float const> values, NumberFormat format, std::size_t before,
                 Stream const& stream)
      : format_(format),
        begin_(before * bytes_of(format)),
        size_(values.size() * bytes_of(format)),
        stream_(stream),
        buffer_(ledger_, Purpose::parameters, begin_ + size_ + guard_bytes, stream) {
    std::vector<std::byte> all(buffer_.bytes(), guard);
    std::ranges::copy(encoded(values, format), all.begin() + static_cast<std::ptrdiff_t>(begin_));
    ADAMANT_TRY(cudaMemcpyAsync(buffer_.as<void>(), all.data(), all.size(), cudaMemcpyHostToDevice,
                                stream.get()));
    stream.synchronize();
  }

  Numbers numbers() const { return {buffer_.as<std::byte>() + begin_, format_}; }

  /// As stored. Empty where something around them has changed.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> all(buffer_.bytes());
    ADAMANT_TRY(cudaMemcpyAsync(all.data(), buffer_.as<void>(), all.size(), cudaMemcpyDeviceToHost,
                                stream_.get()));
    stream_.synchronize();
    auto const values = std::span<std::byte const>(all).subspan(begin_, size_);
    std::vector<std::byte> const result(values.begin(), values.end());
    std::ranges::fill(std::span(all).subspan(begin_, size_), guard);
    bool const kept = std::ranges::count(all, guard) == std::ssize(all);
    return kept ? result : std::vector<std::byte>();
  }

 private:
  static constexpr std::byte guard{0x5a};
  static constexpr std::size_t guard_bytes = 64;

  NumberFormat format_;
  std::size_t begin_;
  std::size_t size_;
  Stream const& stream_;
  Ledger ledger_;
  DeviceBuffer buffer_;
};

}  // namespace adamant::real
