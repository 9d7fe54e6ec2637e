// Ranks as host threads over this machine's GPUs.
#include <gtest/gtest.h>

#include <barrier>
#include <thread>

#include "real/cuda/error.h"
#include "real/testing/ranks.h"

namespace adamant::real {

namespace {

class Barrier final : public Rendezvous {
 public:
  explicit Barrier(int ranks) : barrier_(ranks) {}
  void arrive_and_wait(int) override { barrier_.arrive_and_wait(); }

 private:
  std::barrier<> barrier_;
};

}  // namespace

std::string why_not(int ranks, Devices devices) {
  int count = 0;
  cudaError_t const error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess)
    return std::string("no GPU: ") + cudaGetErrorName(error) + " (" + std::to_string(error) + ")";
  int const needed = devices == Devices::own ? ranks : 1;
  if (count >= needed) return "";
  return "needs " + std::to_string(needed) + " GPUs, found " + std::to_string(count);
}

void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body) {
  Barrier barrier(ranks);
  ncclUniqueId id = {};
  if (devices == Devices::own) ADAMANT_TRY(ncclGetUniqueId(&id));
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        int const device = devices == Devices::own ? rank : 0;
        ADAMANT_TRY(cudaSetDevice(device));
        body({.rank = rank, .device = device, .nccl_id = id, .rendezvous = barrier});
      } catch (std::exception const& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
}

std::optional<std::size_t> growth_at_most(std::function<void()> const& body) {
  body();
  return std::nullopt;
}

}  // namespace adamant::real
