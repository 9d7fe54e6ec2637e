#include "sim/nccl/state.h"

namespace adamant::sim {

NcclState& nccl_state() {
  // Never destroyed, as the runtime: a process may end in the middle of a run.
  static NcclState& state = *new NcclState;
  return state;
}

void NcclState::reset(int ranks) {
  communicators.clear();
  members.clear();
  by_unique_id.clear();
  groups.assign(static_cast<std::size_t>(ranks), {});
  last_error.clear();
  free_calls.clear();
  for (Call& call : calls) {
    call.meeting.arrived.clear();
    for (Part& part : call.parts) part.operation = nullptr;  // of a world that ended before it ran
    free_calls.push_back(&call);
  }
}

}  // namespace adamant::sim
