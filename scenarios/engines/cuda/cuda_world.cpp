#include "scenarios/engines/cuda/cuda_world.h"

#include <stdexcept>
#include <string>

namespace adamant::scenarios {

void CudaWorld::copy_to_host(int rank, void* to, void const* from, std::size_t bytes) const {
  cudaError_t error = cudaSetDevice(device(rank));
  if (error == cudaSuccess) error = cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("cannot look at rank ") + std::to_string(rank) + ": " +
                             cudaGetErrorName(error));
}

}  // namespace adamant::scenarios
