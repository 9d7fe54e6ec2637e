#include "scenarios/language/yaml/write_parts.h"

namespace adamant::scenarios {

std::string write_world(World const& world) {
  Flow map = flow_map();
  map.add("shard", std::to_string(world.shard));
  if (world.replicate != 1) map.add("replicate", std::to_string(world.replicate));
  return map.text();
}

std::string write_offload(Offload const& offload) {
  if (auto const* states = std::get_if<OffloadedStates>(&offload)) {
    Flow map = flow_map();
    map.flag("moments", states->moments, true);
    map.flag("main", states->main, true);
    return "{states: " + map.text() + "}";
  }
  if (auto const* hybrid = std::get_if<HybridOffload>(&offload)) {
    HybridOffload const defaults;
    Flow map = flow_map();
    if (hybrid->fraction != defaults.fraction) map.add("fraction", write_number(hybrid->fraction));
    map.flag("overlap", hybrid->overlap, defaults.overlap);
    map.flag("pin_grads", hybrid->pin_grads, defaults.pin_grads);
    map.flag("pin_params", hybrid->pin_params, defaults.pin_params);
    return "{hybrid: " + map.text() + "}";
  }
  return "none";
}

std::string write_engine(EngineChoice const& engine) {
  Flow map = flow_map();
  if (engine.name != EngineChoice{}.name) map.add("name", write_text(engine.name));
  Flow options = flow_map();
  for (auto const& [key, value] : engine.options) options.add(write_text(key), write_text(value));
  if (!options.empty()) map.add("options", options.text());
  return map.text();
}

std::string write_schedule(Schedule const& schedule) {
  Flow map = flow_map();
  map.word("strategy", schedule.strategy, Schedule{}.strategy);
  map.number("seed", schedule.seed);
  map.number("depth", schedule.depth);
  if (schedule.choices) map.add("choices", write_numbers(*schedule.choices));
  return map.text();
}

std::string write_fault(Fault const& fault) {
  Flow map = flow_map();
  map.add("at", std::string(word_for(fault.at)));
  map.number("nth", fault.nth);
  map.number("rank", fault.rank);
  map.number("file", fault.file);
  map.number("after_bytes", fault.after_bytes);
  map.add("then", std::string(word_for(fault.then)));
  map.number("byte", fault.byte);
  return map.text();
}

}  // namespace adamant::scenarios
