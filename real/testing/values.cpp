#include "real/cuda/error.h"
#include "real/testing/ranks.h"

namespace adamant::real {

std::vector<float> download(void const* device, std::int64_t numel, cudaStream_t stream) {
  std::vector<float> values(static_cast<std::size_t>(numel));
  if (numel > 0)
    ADAMANT_TRY(cudaMemcpyAsync(values.data(), device, values.size() * sizeof(float),
                                cudaMemcpyDeviceToHost, stream));
  ADAMANT_TRY(cudaStreamSynchronize(stream));
  return values;
}

}  // namespace adamant::real
