// Ranks as host threads over this machine's GPUs.
#include <gtest/gtest.h>

#include "real/cuda/error.h"
#include "real/testing/asked.h"
#include "real/testing/rank_threads.h"
#include "real/testing/ranks.h"
#include "real/testing/shared_gpus.h"

namespace adamant::real {

namespace {

Asked asked;

int nccl_version() {
  int version = 0;
  ADAMANT_TRY(ncclGetVersion(&version));
  return version;
}

/// Of this machine, after what has to precede the first call of CUDA.
cudaError_t count_gpus(int& count) {
  static bool const shares = nccl_version() >= nccl_that_shares_gpus;
  if (shares) prepare_to_share_gpus();
  return cudaGetDeviceCount(&count);
}

}  // namespace

std::string why_not(int ranks, Devices devices) {
  int count = 0;
  cudaError_t const error = count_gpus(count);
  if (error != cudaSuccess)
    return std::string("no GPU: ") + cudaGetErrorName(error) + " (" + std::to_string(error) + ")";
  int const needed = gpus_of(ranks, devices);
  if (nccl_ranks_max(nccl_version(), count) < needed)
    return "needs " + std::to_string(needed) + " GPUs, found " + std::to_string(count) +
           ", and NCCL shares them from 2.30 on among up to " + std::to_string(ranks_of_gpu_max) +
           " ranks each";
  asked.note(needed);
  return "";
}

void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body) {
  if (std::string const reason = asked.why_not(gpus_of(ranks, devices)); !reason.empty()) {
    ADD_FAILURE() << reason;
    return;
  }
  int count = 0;
  ADAMANT_TRY(count_gpus(count));
  ncclUniqueId id = {};
  if (devices == Devices::own) ADAMANT_TRY(ncclGetUniqueId(&id));
  auto const failure = run_on_threads(ranks, [&](int rank, RendezvousOfThreads& all) {
    int const device = devices == Devices::own ? rank % count : 0;
    ADAMANT_TRY(cudaSetDevice(device));
    body({.rank = rank, .device = device, .nccl_id = id, .rendezvous = all});
  });
  if (failure) ADD_FAILURE() << "rank " << failure->rank << ": " << failure->message;
}

std::optional<std::size_t> growth_at_most(std::function<void()> const& body) {
  body();
  return std::nullopt;
}

}  // namespace adamant::real
