// Ranks of a simulated world, for the engine's own device tests: real/testing/ranks.h.
#include <gtest/gtest.h>

#include <cstdint>

#include "real/cuda/error.h"
#include "real/testing/asked.h"
#include "real/testing/ranks.h"
#include "sim/sim.h"

namespace adamant::real {

namespace {

class Meeting final : public Rendezvous {
 public:
  void arrive_and_wait(int rank) override {
    EXPECT_EQ(rank, sim::current_rank());
    sim::meet();
  }
};

Asked asked;

}  // namespace

std::string why_not(int ranks, Devices devices) {
  asked.note(gpus_of(ranks, devices));
  return "";
}

void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body) {
  if (std::string const reason = asked.why_not(gpus_of(ranks, devices)); !reason.empty()) {
    ADD_FAILURE() << reason;
    return;
  }
  constexpr int schedules = 12;
  bool const own = devices == Devices::own;
  Meeting meeting;
  ncclUniqueId id = {};
  auto const main = [&](int rank) {
    if (own) sim::meet([&] { ADAMANT_TRY(ncclGetUniqueId(&id)); });
    int const device = own ? rank : 0;
    ADAMANT_TRY(cudaSetDevice(device));
    body({.rank = rank, .device = device, .nccl_id = id, .rendezvous = meeting});
    sim::meet([] {
      EXPECT_TRUE(sim::live_handles() == sim::LiveHandles())
          << "streams, events, graphs or communicators are left";
    });
  };
  sim::Options options;
  options.devices = own ? ranks : 1;
  options.free_waits = false;  // judged as strictly as the documents allow
  options.one_process = true;
  sim::Report const report = sim::explore(ranks, main, schedules, options);
  EXPECT_TRUE(report.ok()) << sim::describe(report);
}

std::optional<std::size_t> growth_at_most(std::function<void()> const& body) {
  int device = 0;
  cudaMemPool_t pool = nullptr;
  ADAMANT_TRY(cudaGetDevice(&device));
  ADAMANT_TRY(cudaDeviceGetDefaultMemPool(&pool, device));
  std::uint64_t before = 0;
  ADAMANT_TRY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &before));
  std::uint64_t peak = 0;  // what it is set to: as much as is in use
  ADAMANT_TRY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
  body();
  ADAMANT_TRY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &peak));
  return peak - before;
}

}  // namespace adamant::real
