// Ranks of a simulated world, for the engine's own device tests: real/testing/ranks.h.
#include <gtest/gtest.h>

#include "real/cuda/error.h"
#include "real/testing/ranks.h"
#include "sim/sim.h"

namespace adamant::real {

namespace {

class Meeting final : public Rendezvous {
 public:
  void arrive_and_wait(int) override { sim::meet(); }
};

}  // namespace

std::string why_not(int, Devices) {
  return "";
}

void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body) {
  constexpr int schedules = 12;
  bool const own = devices == Devices::own;
  Meeting meeting;
  ncclUniqueId id = {};
  auto const main = [&](int rank) {
    if (own) sim::meet([&] { ADAMANT_TRY(ncclGetUniqueId(&id)); });
    int const device = own ? rank : 0;
    ADAMANT_TRY(cudaSetDevice(device));
    body({.rank = rank, .device = device, .nccl_id = id, .rendezvous = meeting});
  };
  sim::Options options;
  options.devices = own ? ranks : 1;
  sim::Report const report = sim::explore(ranks, main, schedules, options);
  EXPECT_TRUE(report.ok()) << sim::describe(report);
}

}  // namespace adamant::real
