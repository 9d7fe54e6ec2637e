#include "real/offload/split.h"

#include <algorithm>
#include <cmath>

#include "real/cuda/assert.h"

namespace adamant::real {

Split::Split(Layout const& layout, double fraction) {
  ADAMANT_REAL_ASSERT(fraction >= 0);
  ADAMANT_REAL_ASSERT(fraction <= 1);
  std::int64_t total = 0;
  for (int p = 0; p < layout.parameter_count(); ++p) total += layout[p].stepped_numel();
  auto left = static_cast<std::int64_t>(std::ceil(fraction * static_cast<double>(total)));
  left = std::min(left, total);  // where the product was rounded up

  auto const count = static_cast<std::size_t>(layout.parameter_count());
  device_numel_.resize(count);
  host_numel_.resize(count);
  auto const& order = layout.storage_order();
  for (auto at = order.rbegin(); at != order.rend(); ++at) {
    int const p = *at;
    std::int64_t const numel = layout[p].stepped_numel();
    std::int64_t const on_host = std::min(left, numel);
    host_numel_[static_cast<std::size_t>(p)] = on_host;
    device_numel_[static_cast<std::size_t>(p)] = numel - on_host;
    left -= on_host;
  }
}

std::size_t Split::device_bytes(Layout const& layout, TensorKind kind) const {
  for (int const p : layout.storage_order()) {
    if (host_numel(p) == 0) continue;
    auto const format = layout[p].format(kind);
    auto const numel = static_cast<std::size_t>(device_numel(p));
    std::size_t const end = layout[p].begin(kind) + (format ? numel * bytes_of(*format) : 0);
    return (end + 15) / 16 * 16;
  }
  return layout.flat_bytes(kind);
}

}  // namespace adamant::real
