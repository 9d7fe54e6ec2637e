// Compiled once for each variant, with ADAMANT_ENGINE_ENTRY as the name of its entry.
#include "scenarios/engines/door.h"

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/storage.h"
#include "real/cuda/error.h"
#include "scenarios/engines/sticky_errors.h"

namespace adamant::scenarios {

namespace {

ncclUniqueId make_nccl_id() {
  ncclUniqueId id = {};
  ADAMANT_TRY(ncclGetUniqueId(&id));
  return id;
}

std::string reason_of(std::exception const& error) {
  using Kind = real::CheckpointError::Kind;
  auto const* cuda = dynamic_cast<real::CudaError const*>(&error);
  if (cuda != nullptr && cuda->code() == cudaErrorMemoryAllocation) return "out_of_memory";
  // A file or directory that is not there, or cannot be read.
  if (dynamic_cast<real::StorageError const*>(&error) != nullptr) return "damaged_checkpoint";
  auto const* checkpoint = dynamic_cast<real::CheckpointError const*>(&error);
  if (checkpoint == nullptr) return "";
  return checkpoint->kind() == Kind::damaged ? "damaged_checkpoint" : "incompatible_checkpoint";
}

EngineError explain(std::exception const& error) {
  return {
      .reason = reason_of(error), .message = error.what(), .spoils_process = spoils_process(error)};
}

bool says_no_state(std::exception const& error) {
  return dynamic_cast<real::NoStateError const*>(&error) != nullptr;
}

constexpr EngineDoor door = {
    .make_engine = real::make_engine,
    .make_loopback_exchange = real::make_loopback_exchange,
    .make_gradients = make_generated_gradients,
    .make_nccl_id = make_nccl_id,
    .explain = explain,
    .says_no_state = says_no_state,
};

}  // namespace

}  // namespace adamant::scenarios

extern "C" adamant::scenarios::EngineDoor const* ADAMANT_ENGINE_ENTRY() {
  return &adamant::scenarios::door;
}
