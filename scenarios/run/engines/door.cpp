// Compiled once for each variant, with ADAMANT_ENGINE_ENTRY as the name of its entry.
#include "scenarios/run/engines/door.h"

#include "real/cuda/error.h"
#include "real/fault.h"

namespace adamant::scenarios {

namespace {

ncclUniqueId make_nccl_id() {
  ncclUniqueId id = {};
  ADAMANT_TRY(ncclGetUniqueId(&id));
  return id;
}

bool select_fault(std::string_view name) {
#ifdef ADAMANT_FAULTS
  if (name.empty()) return real::select_fault(real::Fault::none), true;
  for (real::FaultInfo const& info : real::all_faults()) {
    if (info.name != name) continue;
    real::select_fault(info.fault);
    return true;
  }
  return false;
#else
  return name.empty();
#endif
}

std::vector<std::string_view> fault_names() {
  std::vector<std::string_view> names;
#ifdef ADAMANT_FAULTS
  for (real::FaultInfo const& info : real::all_faults()) names.push_back(info.name);
#endif
  return names;
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
    .select_fault = select_fault,
    .fault_names = fault_names,
    .explain = explain,
};

}  // namespace

}  // namespace adamant::scenarios

extern "C" adamant::scenarios::EngineDoor const* ADAMANT_ENGINE_ENTRY() {
  return &adamant::scenarios::door;
}
