// Ranks as host threads over this machine's GPUs.
#include <gtest/gtest.h>

#include "real/cuda/error.h"
#include "real/testing/asked.h"
#include "real/testing/rank_threads.h"
#include "real/testing/ranks.h"

namespace adamant::real {

namespace {

Asked asked;

}  // namespace

std::string why_not(int ranks, Devices devices) {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess)
    return std::string("no GPU: ") + cudaGetErrorName(error) + " (" + std::to_string(error) + ")";
  int const needed = gpus_of(ranks, devices);
  if (count < needed)
    return "needs " + std::to_string(needed) + " GPUs, found " + std::to_string(count);
  asked.note(needed);
  return "";
}

void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body) {
  if (std::string const reason = asked.why_not(gpus_of(ranks, devices)); !reason.empty()) {
    ADD_FAILURE() << reason;
    return;
  }
  ncclUniqueId id = {};
  if (devices == Devices::own) ADAMANT_TRY(ncclGetUniqueId(&id));
  auto const failure = run_on_threads(ranks, [&](int rank, RendezvousOfThreads& all) {
    int const device = devices == Devices::own ? rank : 0;
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
