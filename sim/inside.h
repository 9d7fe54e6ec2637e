// The frame of what a harness asks inside of a run.
#pragma once

#include <utility>

#include "sim/cuda/runtime.h"

namespace adamant::sim {

/// The runtime of the rank that calls. REQUIRES: inside a run, on a rank.
inline Runtime& inside_or_abort() {
  ADAMANT_SIM_ASSERT(current_runtime != nullptr);
  ADAMANT_SIM_ASSERT(current_runtime->world.host() != nullptr);
  return *current_runtime;
}

/// What a harness function does is no access of the program.
class Unwatched {
 public:
  Unwatched() : kept_(std::exchange(active_watch, nullptr)) {}
  ~Unwatched() { active_watch = kept_; }
  Unwatched(Unwatched const&) = delete;
  Unwatched& operator=(Unwatched const&) = delete;

 private:
  Watch* kept_;
};

}  // namespace adamant::sim
