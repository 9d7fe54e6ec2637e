// The engine's own account of its memory: what is live now, for what, and the most that was live at
// once. It follows the host's order of allocating and freeing and never asks the device.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "oracle/types.h"
#include "real/engine.h"

namespace adamant::real {

class Ledger {
 public:
  /// REQUIRES: `buffer.bytes` > 0, its address not listed.
  void add(Buffer const& buffer);
  /// REQUIRES: `address` is listed.
  void remove(void const* address);

  /// Live buffers in the order in which they were allocated.
  std::vector<Buffer> const& buffers() const { return buffers_; }
  std::size_t live_bytes(Purpose purpose) const { return live_[index(purpose)]; }
  std::size_t peak_bytes(Purpose purpose) const { return peak_[index(purpose)]; }
  /// Of device memory, or of pinned memory, by itself.
  std::size_t peak_bytes(Purpose purpose, bool on_host) const {
    return peak_of_[on_host ? 1 : 0][index(purpose)];
  }

 private:
  static std::size_t index(Purpose purpose) { return static_cast<std::size_t>(purpose); }

  std::vector<Buffer> buffers_;
  using ByPurpose = std::array<std::size_t, purpose_count>;
  ByPurpose live_ = {};
  ByPurpose peak_ = {};
  std::array<ByPurpose, 2> live_of_ = {};  // on the device, in host memory
  std::array<ByPurpose, 2> peak_of_ = {};
};

}  // namespace adamant::real
