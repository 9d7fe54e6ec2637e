// Everything of NCCL that lives as long as one world, and the frame of every call.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "sim/nccl/collective.h"
#include "sim/nccl/communicator.h"
#include "sim/nccl/group.h"
#include "sim/nccl/reduction.h"

namespace adamant::sim {

struct NcclState {
  std::deque<Communicator> communicators;
  std::deque<ncclComm> members;
  std::vector<Communicator*> by_unique_id;  // null: the id was made, but nobody came yet
  std::vector<Group> groups;                // by rank of the world
  std::string last_error;

  // Kept for the next world.
  std::deque<Call> calls;
  std::vector<Call*> free_calls;
  std::vector<Reducer> reducers;  // one a thread of the crew
  std::vector<char*> everyone;    // where all ranks receive
  std::vector<Contribution> contributions;
  VectorClock joined;

  void reset(int ranks);
  Group& group(Runtime& runtime) {
    return groups[static_cast<std::size_t>(runtime.world.host()->rank)];
  }
};

NcclState& nccl_state();

/// Keeps the text for ncclGetLastError and returns `result`.
inline ncclResult_t refuse(ncclResult_t result, char const* why) {
  nccl_state().last_error = why;
  return result;
}

inline ncclResult_t result_of_world(Runtime& runtime) {
  return runtime.world.ended() ? ncclSystemError : ncclSuccess;
}

/// Runs `body(runtime)` as one call of the host program, whose accesses are not the program's.
/// Errors: ncclUnhandledCudaError outside of a run and inside a host function, ncclSystemError
///         after the end of the world.
template <typename Body>
ncclResult_t nccl_call(Body&& body, char const* name = __builtin_FUNCTION()) {
  if (cudaError_t const error = refusal(name); error != cudaSuccess) {
    return error == cudaErrorUnknown ? ncclSystemError : ncclUnhandledCudaError;
  }
  Watch* const watched = std::exchange(active_watch, nullptr);
  Runtime& runtime = *current_runtime;
  TracedCall const traced(runtime.world, name);
  ncclResult_t const result = body(runtime);
  runtime.world.mix(static_cast<std::uint64_t>(result));
  active_watch = watched;
  return result;
}

}  // namespace adamant::sim
