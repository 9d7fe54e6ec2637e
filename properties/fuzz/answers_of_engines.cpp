#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/peers/client/replies.h"
#include "scenarios/peers/doctor/json_schema.h"

namespace adamant::properties {

namespace {

using scenarios::PeerReply;

constexpr int ranks = 2;

/// Of the recorded session (scenarios/engine.session.jsonl).
constexpr std::string_view scenario_text = R"(adamant: 1
name: a session
world: {shard: 2}
params: [{name: a.weight, shape: [5, 2]}, {name: b, shape: [1], group: other}]
groups: {other: {lr: 0.5}}
program: [train: 1]
)";

struct World {
  scenarios::Scenario scenario = scenarios::load_scenario_text(scenario_text, "session.yaml");
  std::vector<ParameterSpec> parameters = scenarios::parameter_specs(scenario);
  std::vector<scenarios::replies::NamedGroup> groups = {
      {.name = "", .config = scenarios::adam_configs(scenario)[0]},
      {.name = "other", .config = scenarios::adam_configs(scenario)[1]}};
};

/// What reads a part of a reply may refuse it, as what the engine said.
template <typename Read>
void read_or_refuse(Read read) {
  try {
    read();
  } catch (scenarios::PeerError const&) {
  }
}

void take_apart(PeerReply const& reply) {
  static World const world;
  namespace replies = scenarios::replies;
  read_or_refuse([&] { replies::capabilities_of(reply); });
  read_or_refuse([&] { replies::versions_of(reply); });
  read_or_refuse([&] { replies::arithmetic_of(reply, scenarios::Arithmetic::own_order, true); });
  read_or_refuse([&] { replies::outcomes_of(reply, ranks); });
  read_or_refuse([&] { replies::states_of(reply, world.parameters, world.groups, ranks); });
  read_or_refuse([&] { replies::flag_of(reply, "unfinished"); });
  read_or_refuse([&] { replies::not_carried_of(reply); });
}

void hold_to_schema(PeerReply const& reply) {
  for (char const* const definition : {"reply", "hello_reply", "open_reply", "state_reply"})
    for (auto const& mismatch : scenarios::engine_schema().mismatches(reply.json, definition))
      require(!mismatch.expected.empty(), "a mismatch says nothing");
}

}  // namespace

bool read_replies(Bytes line) {
  std::string const text = text_of(line);
  try {
    PeerReply const reply{.json = scenarios::reply_in(text, 0), .where = "engine f: reply 0 (r)"};
    take_apart(reply);
    hold_to_schema(reply);
    return true;
  } catch (scenarios::PeerError const&) {
    return false;
  }
}

}  // namespace adamant::properties
