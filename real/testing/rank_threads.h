// Ranks of a test as threads of the operating system, which end together: where one fails, the
// others do so at their next meeting, and a process whose ranks wait for what will not come is
// ended with a sentence. It knows no device.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "real/comm/rendezvous_of_threads.h"

namespace adamant::real {

struct RankFailure {
  int rank = 0;
  std::string message;
};

using RankBody = std::function<void(int rank, RendezvousOfThreads& all)>;

/// Runs the body for every rank, each on a thread of its own, and returns when all have ended: the
/// first that failed, if one did. A rank fails by what it throws. Those that end because another
/// has failed are no news.
///
/// A rank may wait for another one on a device, where nobody can tell it that the other is gone. So
/// once a rank has thrown, or an assertion of GoogleTest that returns has failed, the process ends
/// unless all ranks do within `patience`.
std::optional<RankFailure> run_on_threads(
    int ranks, RankBody const& body, std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace adamant::real
