#include "scenarios/model/checkpoint_support.h"

#include <algorithm>
#include <string>
#include <vector>

namespace adamant::scenarios {

namespace {

using MaybeRefusal = std::optional<Refusal>;

Refusal unsupported(std::string const& detail, std::string message, SourceLine line) {
  return {.id = "unsupported." + detail, .message = std::move(message), .line = line.value};
}

MaybeRefusal refuse_load(Load const& load, Scenario const& scenario, SourceLine line) {
  if (load.layout && *load.layout != Layout::fsdp2)
    return unsupported("layout", "a load changes layout; supported: fsdp2", line);
  if (load.world && load.world->replicate != 1)
    return unsupported("replicate", "a load changes world; supported: replicate: 1", line);
  if (with(scenario.precision, load.precision) != scenario.precision)
    return unsupported("precision", "a load changes precision; supported: the same as saved", line);
  if (load.offload && offloads_nothing(*load.offload))
    return unsupported("offload", "a load asks for an offload of neither moments nor main weights",
                       line);
  return std::nullopt;
}

MaybeRefusal refuse_operation(Operation const& operation, Scenario const& scenario) {
  auto const* const load = std::get_if<Load>(&operation.action);
  bool const saves = std::holds_alternative<Save>(operation.action);
  if (load == nullptr && !saves) return std::nullopt;
  if (scenario.engine.name == "cuda")
    return unsupported(std::string(word_of(operation.action)),
                       "checkpoints of engine cuda are not there yet; supported: sim, "
                       "sim-unchecked",
                       operation.line);
  return load == nullptr ? std::nullopt : refuse_load(*load, scenario, operation.line);
}

bool fits(Fault const& fault) {
  switch (fault.at) {
    case Fault::Where::save:
      return fault.then == Fault::Then::crash;
    case Fault::Where::malloc:
      return fault.then == Fault::Then::out_of_memory;
    case Fault::Where::load:
      break;
  }
  return fault.then != Fault::Then::crash && fault.then != Fault::Then::out_of_memory;
}

/// Are there two saves of what the nth load of a program loads, before it?
bool has_older_save(Scenario const& scenario, std::int64_t nth) {
  std::vector<std::string> saved;
  std::int64_t loads = 0;
  for (Operation const& operation : scenario.program) {
    if (auto const* save = std::get_if<Save>(&operation.action)) saved.push_back(save->checkpoint);
    auto const* const load = std::get_if<Load>(&operation.action);
    if (load == nullptr || ++loads < nth) continue;
    return std::count(saved.begin(), saved.end(), load->from) >= 2;
  }
  return false;
}

MaybeRefusal refuse_fault(Fault const& fault, Scenario const& scenario) {
  SourceLine const line = scenario.places[Place::faults];
  if (!fits(fault))
    return unsupported("faults",
                       "no such fault can be injected; supported: at save then crash, at malloc "
                       "then out_of_memory, at load then flip_byte, truncate, remove_file or "
                       "stale_file",
                       line);
  if (scenario.engine.name == "cuda")
    return unsupported("faults", "engine cuda takes no faults; supported: sim, sim-unchecked",
                       line);
  if (fault.then == Fault::Then::stale_file && !has_older_save(scenario, fault.nth.value_or(1)))
    return unsupported("faults",
                       "stale_file needs two saves under the name that is loaded: an older one to "
                       "take the file from",
                       line);
  return std::nullopt;
}

}  // namespace

MaybeRefusal refuse_checkpoints(Scenario const& scenario) {
  for (Operation const& operation : scenario.program)
    if (auto refusal = refuse_operation(operation, scenario)) return refusal;
  for (Fault const& fault : scenario.faults)
    if (auto refusal = refuse_fault(fault, scenario)) return refusal;
  return std::nullopt;
}

}  // namespace adamant::scenarios
