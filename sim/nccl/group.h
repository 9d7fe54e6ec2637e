// Groups: what a host issues between ncclGroupStart and ncclGroupEnd goes to the streams at the
// outermost end, and the streams of one group and communicator are joined by it.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/nccl/collective.h"

namespace adamant::sim {

/// What one host has open.
struct Group {
  int depth = 0;
  std::uint32_t opened_by = 0;  // the record of the outermost ncclGroupStart
  std::vector<ncclComm*> creations;
  std::vector<Request> requests;
  ncclResult_t refused = ncclSuccess;  // of the last call in it that was
};

/// Issues the request now, or at the end of the group in which the host is.
ncclResult_t submit(Runtime& runtime, Request request);
/// Returns what came of a call. A group in which one is refused issues nothing: NCCL cancels it.
ncclResult_t note_result(Runtime& runtime, ncclResult_t result);
/// Finishes the creation now, or at the end of the group.
ncclResult_t submit_creation(Runtime& runtime, ncclComm& member);
/// The calling host is at its end: a violation if it has left calls in a group that it never ended.
void judge_open_group(Runtime& runtime);

}  // namespace adamant::sim
