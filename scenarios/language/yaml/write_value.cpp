#include "scenarios/language/yaml/write_value.h"

namespace adamant::scenarios {

std::string write_value(kinds::Worlds, std::vector<World> const& value) {
  Flow list = flow_list();
  for (World const& world : value) {
    bool const shards_alone = world == World{.shard = world.shard};
    list.add(shards_alone ? write_value(kinds::Integer{mesh_range}, world.shard)
                          : write_map(world));
  }
  return list.text();
}

std::string write_value(kinds::Norm, Clip const& value) {
  return value ? write_number(*value) : "none";
}

std::string write_value(kinds::Scale, LossScale const& value) {
  if (value.kind == LossScale::Kind::fixed) return write_number(value.value);
  return value.kind == LossScale::Kind::dynamic ? "dynamic" : "none";
}

std::string write_value(kinds::Params, kinds::Params::Value const& value) {
  if (value.model) return "{model: " + write_text(*value.model) + "}";
  return write_value(kinds::Maps<Param>{"parameters"}, value.list);
}

std::string write_value(kinds::Groups, std::vector<Group> const& value) {
  Flow map = flow_map();
  for (Group const& group : value) map.add(write_text(group.name), write_map(group.settings));
  return map.text();
}

std::string write_value(kinds::Offloaded, Offload const& value) {
  Flow map = flow_map();
  if (auto const* states = std::get_if<OffloadedStates>(&value))
    map.add(map_name<OffloadedStates>.name, write_map(*states));
  if (auto const* hybrid = std::get_if<HybridOffload>(&value))
    map.add(map_name<HybridOffload>.name, write_map(*hybrid));
  return map.empty() ? "none" : map.text();
}

std::string write_value(kinds::Operations, std::vector<Operation> const& value) {
  Flow list = flow_list();
  for (Operation const& operation : value) {
    std::string const text = write_action(operation.action);
    list.add(text.find(": ") == std::string::npos ? text : "{" + text + "}");
  }
  return list.text();
}

std::string write_value(kinds::EngineOptions, kinds::EngineOptions::Value const& value) {
  Flow options = flow_map();
  for (auto const& [name, choice] : value) options.add(write_text(name), write_text(choice));
  return options.text();
}

std::string write_value(kinds::Expected, Expectation const& value) {
  if (value.kind == Expectation::Kind::pass) return "pass";
  bool const violates = value.kind == Expectation::Kind::violates;
  return (violates ? "{violates: " : "{refused: ") + value.id + "}";
}

}  // namespace adamant::scenarios
