// The one symbol that each variant of the engine (checked or not, with bugs woven in or as it is,
// CUDA) exports, and what is behind it. Types of errors stay inside a variant: explain() turns them
// into values.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "real/engine.h"
#include "scenarios/gradients/source.h"

namespace adamant::scenarios {

struct EngineError {
  std::string reason;  // the id of a refusal, or empty
  std::string message;
  /// A device does not forget the error: whatever its process asks of it from now on fails, too.
  bool spoils_process = false;
};

struct EngineDoor {
  std::unique_ptr<real::Engine> (*make_engine)(real::EngineConfig const&, real::GradientSource&);
  std::shared_ptr<real::LoopbackExchange> (*make_loopback_exchange)(int world_size);
  std::unique_ptr<GeneratedGradients> (*make_gradients)(GradientPlan const&);
  ncclUniqueId (*make_nccl_id)();
  EngineError (*explain)(std::exception const&);
  /// Is this how an engine refuses a verb because its last load has failed?
  bool (*says_no_state)(std::exception const&);
};

}  // namespace adamant::scenarios

extern "C" {
adamant::scenarios::EngineDoor const* adamant_engine_checked();
adamant::scenarios::EngineDoor const* adamant_engine_unchecked();
adamant::scenarios::EngineDoor const* adamant_engine_woven();
adamant::scenarios::EngineDoor const* adamant_engine_cuda();
}
