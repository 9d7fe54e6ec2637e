// Ranks that share a GPU while NCCL itself carries their collectives: whether it can, and what it
// and the driver have to be told. Who has more ranks than that needs the loop-back.
#pragma once

#include <cstdlib>
#include <utility>

namespace adamant::real {

/// From 2.30 on NCCL lets several ranks have one GPU.
inline constexpr int nccl_that_shares_gpus = 23000;

/// A GPU takes work from 32 queues side by side, and a rank has up to 5 streams beside NCCL's own:
/// with more ranks a collective could wait behind what waits for it.
inline constexpr int ranks_of_gpu_max = 4;

/// So many ranks a world may have. `nccl` as ncclGetVersion gives it.
inline int nccl_ranks_max(int nccl, int gpus) {
  return gpus * (nccl >= nccl_that_shares_gpus ? ranks_of_gpu_max : 1);
}

/// Sets what the environment does not say already. Ranks that share a GPU wait for one another in
/// kernels. So each takes few of its blocks, streams have queues of their own, and all kernels are
/// there before anybody waits: to load one, the driver may wait for all that runs. There is no
/// multicast between ranks of one GPU.
///
/// REQUIRES: this process has not called CUDA yet, and has no other thread.
inline void prepare_to_share_gpus() {
  for (auto const& [name, value] : {std::pair{"NCCL_MULTI_RANK_GPU_ENABLE", "1"},
                                    {"NCCL_MAX_CTAS", "1"},
                                    {"NCCL_NVLS_ENABLE", "0"},
                                    {"CUDA_MODULE_LOADING", "EAGER"},
                                    {"CUDA_DEVICE_MAX_CONNECTIONS", "32"}})
    static_cast<void>(::setenv(name, value, 0));
}

}  // namespace adamant::real
