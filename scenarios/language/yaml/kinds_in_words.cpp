#include "scenarios/language/yaml/kinds_in_words.h"

#include <fmt/format.h>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/engine_names.h"
#include "scenarios/language/laws.h"

namespace adamant::scenarios {

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

std::string values_of(kinds::Integer kind) {
  return fmt::format("an integer in {} ... {}", kind.range.least, kind.range.most);
}

std::string values_of(kinds::Worlds) {
  return "a list of worlds, each a number of shards or " + values_of(kinds::Map<World>{});
}

std::string values_of(kinds::Norm) {
  return "none or " + values_of(kinds::Real{RealRange::positive});
}

std::string values_of(kinds::Scale) {
  return "none, dynamic or " + values_of(kinds::Real{RealRange::positive});
}

std::string values_of(kinds::EngineName) {
  return list_words(engine_names) + ", an adapter's name such as torch, or " +
         std::string(exec_prefix) + "COMMAND";
}

bool example_of(kinds::Flag, bool usual) {
  return !usual;
}

std::int64_t example_of(kinds::Integer kind, std::int64_t) {
  return kind.range.least + 1;
}

std::int64_t example_of(kinds::Version, std::int64_t usual) {
  return usual;
}

kinds::Params::Value example_of(kinds::Params, kinds::Params::Value const&) {
  return {.model = {}, .list = example_of(kinds::Maps<Param>{"parameters"}, {})};
}

std::vector<Group> example_of(kinds::Groups, std::vector<Group> const&) {
  return {{.name = "a", .settings = example_of(kinds::Map<AdamOverride>{}, {})}};
}

std::string example_of(kinds::EngineName, std::string const&) {
  return std::string(engine_names[1]);
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
