// Runs a test's ranks wherever the program was linked for: a simulated world or this machine's
// GPUs. Tests of the engine that touch a device say what they need here and know nothing else of
// it.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "real/engine.h"

namespace adamant::real {

/// NCCL wants a device for each rank, and from 2.30 on shares them; the loop-back wants all ranks
/// on one.
enum class Devices { own, shared };

/// What the body of one rank is given.
struct RankContext {
  int rank = 0;
  int device = 0;
  ncclUniqueId nccl_id = {};  // the same on every rank
  Rendezvous& rendezvous;
};

/// Empty, or why such a world cannot run here. A test asks before it runs one.
std::string why_not(int ranks, Devices devices);

/// Runs the body on every rank at once and returns when all are done. The body finds its device
/// selected. A simulated world is run several times, under different schedules, so a body starts
/// afresh. A violation that the world notices fails the running test, and so does a world that
/// takes more GPUs than the test has asked for. The others end soon where a rank fails.
void run_ranks(int ranks, Devices devices, std::function<void(RankContext const&)> const& body);

/// By how many bytes the memory in use on the rank's device grows at most while the body runs,
/// which waits for its work at the end. Nothing where memory is not counted until its free is done.
std::optional<std::size_t> growth_at_most(std::function<void()> const& body);

/// Copies fp32 numbers from device memory to the host; waits for all of `stream`.
std::vector<float> download(void const* device, std::int64_t numel, cudaStream_t stream);

}  // namespace adamant::real

#define ADAMANT_NEEDS(ranks, devices)                                                       \
  if (std::string const reason = ::adamant::real::why_not(ranks, devices); !reason.empty()) \
  GTEST_SKIP() << reason
