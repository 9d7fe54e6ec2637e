#include "scenarios/language/yaml/kinds_in_words.h"

#include <fmt/format.h>

#include <limits>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"

namespace adamant::scenarios {

std::string values_of(kinds::Flag) {
  return "true or false";
}

std::string values_of(kinds::Real kind) {
  switch (kind.range) {
    case RealRange::below_one:
      return "a number in [0, 1)";
    case RealRange::positive:
      return "a finite number > 0";
    case RealRange::finite_not_negative:
      break;
  }
  return "a finite number >= 0";
}

std::string values_of(kinds::Fraction) {
  return "a number in [0, 1]";
}

std::string values_of(kinds::Integer kind) {
  return fmt::format("an integer in {} ... {}", kind.range.least, kind.range.most);
}

std::string values_of(kinds::Seed) {
  return fmt::format("an integer in 0 ... {}", std::numeric_limits<std::uint64_t>::max());
}

std::string values_of(kinds::Text) {
  return "text";
}

std::string values_of(kinds::Name) {
  return "a name like [A-Za-z0-9_][A-Za-z0-9_.-]* without `..`";
}

std::string values_of(kinds::Names) {
  return "a list of parameter names";
}

std::string values_of(kinds::Parts) {
  return "a list of names, as many as cut dimension 0 into equal parts";
}

std::string values_of(kinds::Earlier) {
  return "the name of an earlier parameter that is not tied itself";
}

std::string values_of(kinds::Version) {
  return "1, the only version of the format";
}

std::string values_of(kinds::Worlds) {
  return "a list of worlds, each a number of shards or " + values_of(kinds::Map<World>{});
}

std::string values_of(kinds::Betas) {
  return "a list of two numbers in [0, 1)";
}

std::string values_of(kinds::Norm) {
  return "none or " + values_of(kinds::Real{RealRange::positive});
}

std::string values_of(kinds::Scale) {
  return "none, dynamic or " + values_of(kinds::Real{RealRange::positive});
}

std::string values_of(kinds::Shape) {
  return "a list of sizes, such as [10, 3]";
}

std::string values_of(kinds::Params) {
  return "a list of parameters {name, shape}, or {model: NAME}";
}

std::string values_of(kinds::Groups) {
  return "a map of groups and what they override";
}

std::string values_of(kinds::Offloaded) {
  return "none, {states: {...}} or {hybrid: {...}}";
}

std::string values_of(kinds::Operations) {
  return "a list of operations";
}

std::string values_of(kinds::EngineName) {
  return list_words(engine_names) + ", an adapter's name such as torch, or " +
         std::string(exec_prefix) + "COMMAND";
}

std::string values_of(kinds::EngineOptions) {
  return "a map of options";
}

std::string values_of(kinds::Choices) {
  return "a list of recorded choices";
}

std::string values_of(kinds::Bug) {
  return "the id of a catalogued bug; `adamant bugs` lists them";
}

std::string values_of(kinds::Expected) {
  return "pass, {violates: LAW} or {refused: REASON}";
}

bool example_of(kinds::Flag, bool usual) {
  return !usual;
}

float example_of(kinds::Real, float) {
  return 0.5F;
}

double example_of(kinds::Fraction, double) {
  return 0.25;
}

std::int64_t example_of(kinds::Integer kind, std::int64_t) {
  return kind.range.least + 1;
}

std::uint64_t example_of(kinds::Seed, std::uint64_t) {
  return 7;
}

std::string example_of(kinds::Text, std::string const&) {
  return "States survive resharding";
}

std::string example_of(kinds::Name, std::string const&) {
  return "a";
}

std::vector<std::string> example_of(kinds::Names, std::vector<std::string> const&) {
  return {"a"};
}

std::vector<std::string> example_of(kinds::Parts, std::vector<std::string> const&) {
  return {"gate", "up"};
}

std::string example_of(kinds::Earlier, std::string const&) {
  return "b";
}

std::int64_t example_of(kinds::Version, std::int64_t usual) {
  return usual;
}

std::vector<World> example_of(kinds::Worlds, std::vector<World> const&) {
  return {{.shard = 2}, {.shard = 1}, {.shard = 3}};
}

std::array<float, 2> example_of(kinds::Betas, std::array<float, 2> const&) {
  return {0.8F, 0.95F};
}

Clip example_of(kinds::Norm, Clip const&) {
  return 1.0F;
}

LossScale example_of(kinds::Scale, LossScale const&) {
  return {.kind = LossScale::Kind::dynamic, .value = 0};
}

std::vector<std::int64_t> example_of(kinds::Shape, std::vector<std::int64_t> const&) {
  return {10, 3};
}

kinds::Params::Value example_of(kinds::Params, kinds::Params::Value const&) {
  return {.model = {}, .list = example_of(kinds::Maps<Param>{"parameters"}, {})};
}

std::vector<Group> example_of(kinds::Groups, std::vector<Group> const&) {
  return {{.name = "a", .settings = example_of(kinds::Map<AdamOverride>{}, {})}};
}

Offload example_of(kinds::Offloaded, Offload const&) {
  return OffloadedStates{.moments = true, .main = false};
}

std::vector<Operation> example_of(kinds::Operations, std::vector<Operation> const&) {
  return {{.action = Backward{}}, {.action = Step{}}, {.action = ZeroGrad{}}};
}

std::string example_of(kinds::EngineName, std::string const&) {
  return std::string(engine_names[1]);
}

kinds::EngineOptions::Value example_of(kinds::EngineOptions, kinds::EngineOptions::Value const&) {
  return {{"implementation", "fused"}};
}

std::vector<std::uint32_t> example_of(kinds::Choices, std::vector<std::uint32_t> const&) {
  return {0, 2, 1};
}

std::string example_of(kinds::Bug, std::string const&) {
  return std::string(bugs::ids().front());
}

Expectation example_of(kinds::Expected, Expectation const&) {
  return {.kind = Expectation::Kind::violates, .id = std::string(laws().front().id)};
}

void complete_example(Again& again) {
  if (!again.through.empty() || again.order != ParamOrder::listed) again.resumed_after = 1;
}

void complete_example(Schedule& schedule) {
  if (schedule.depth) schedule.strategy = Schedule::Strategy::pct;
}

void complete_example(Param& param) {
  if (param.is_tied()) param.shape.clear();
}

std::string before_example(Param const& param) {
  std::string const before(map_name<Param>.before);
  return param.is_tied() ? before + "{name: " + param.tied + ", shape: [10, 3]}, " : before;
}

}  // namespace adamant::scenarios
