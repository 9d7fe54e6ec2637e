#include "sim/nccl/state.h"

namespace adamant::sim {

NcclState& nccl_state() {
  static NcclState state;
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
    free_calls.push_back(&call);
  }
}

}  // namespace adamant::sim
