// Compiled once for each variant, with ADAMANT_ENGINE_ENTRY as the name of its entry.
#include "scenarios/run/engines/door.h"

#include "real/bug.h"
#include "real/cuda/error.h"

namespace adamant::scenarios {

namespace {

ncclUniqueId make_nccl_id() {
  ncclUniqueId id = {};
  ADAMANT_TRY(ncclGetUniqueId(&id));
  return id;
}

bool select_bug(std::string_view id) {
#ifdef ADAMANT_BUGS
  if (id.empty()) return real::select_bug(real::Bug::none), true;
  for (real::BugInfo const& info : real::all_bugs()) {
    if (info.id != id) continue;
    real::select_bug(info.bug);
    return true;
  }
  return false;
#else
  return id.empty();
#endif
}

EngineError explain(std::exception const& error) {
  auto const* cuda = dynamic_cast<real::CudaError const*>(&error);
  bool const out_of_memory = cuda != nullptr && cuda->code() == cudaErrorMemoryAllocation;
  return {.out_of_memory = out_of_memory, .message = error.what()};
}

constexpr EngineDoor door = {
    .make_engine = real::make_engine,
    .make_loopback_exchange = real::make_loopback_exchange,
    .make_gradients = make_generated_gradients,
    .make_nccl_id = make_nccl_id,
    .select_bug = select_bug,
    .explain = explain,
};

}  // namespace

}  // namespace adamant::scenarios

extern "C" adamant::scenarios::EngineDoor const* ADAMANT_ENGINE_ENTRY() {
  return &adamant::scenarios::door;
}
