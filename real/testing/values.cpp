#include <bit>
#include <cmath>

#include "real/cuda/error.h"
#include "real/testing/ranks.h"

namespace adamant::real {

bool same_value(float a, float b) {
  if (std::isnan(a)) return std::isnan(b);
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

std::vector<float> download(void const* device, std::int64_t numel, cudaStream_t stream) {
  std::vector<float> values(static_cast<std::size_t>(numel));
  if (numel > 0)
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), device, values.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, stream));
  ADAMANT_TRY(cudaStreamSynchronize(stream));
  return values;
}

}  // namespace adamant::real
