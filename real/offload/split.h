// Which of a rank's elements are stepped on the CPU: the last ones as they lie in memory, so that
// what stays on the device begins where it always did. Numbers only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "real/shard/layout.h"

namespace adamant::real {

class Split {
 public:
  /// All elements on the device.
  explicit Split(Layout const& layout) : Split(layout, 0.0) {}

  /// The CPU gets ceil(fraction x n) of the rank's n elements. A parameter may be cut anywhere.
  ///
  /// Units: `fraction` in [0, 1].
  Split(Layout const& layout, double fraction);

  /// The first elements of the rank's shard of a parameter, which the device steps.
  std::int64_t device_numel(int parameter) const {
    return device_numel_[static_cast<std::size_t>(parameter)];
  }
  /// The others.
  std::int64_t host_numel(int parameter) const {
    return host_numel_[static_cast<std::size_t>(parameter)];
  }

  /// Bytes of a state's flat buffer that the device needs: up to the first element that the CPU
  /// steps, rounded up to 16 bytes, or all.
  std::size_t device_bytes(Layout const& layout, TensorKind kind) const;

 private:
  std::vector<std::int64_t> device_numel_;
  std::vector<std::int64_t> host_numel_;
};

}  // namespace adamant::real
