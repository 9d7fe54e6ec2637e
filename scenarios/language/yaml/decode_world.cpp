// The odd values of where a scenario runs: several worlds, engines and their options, recorded
// choices, offloads.
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

template <typename T>
void read_one_of(Reader& reader, MapReader const& map, std::string_view key, Offload& offload) {
  map.optional(key, [&](Field const& f) {
    T value;
    read_map(reader, f, value);
    offload = value;
  });
}

}  // namespace

bool read_value(Reader& reader, Field const& field, kinds::Offloaded kind, Offload& value) {
  Node const& node = *field.node;
  if (node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text && node.text == "none") {
    value = std::monostate{};
    return true;
  }
  if (node.kind != Node::Kind::map) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  static constexpr std::array kinds_of_offload{map_name<OffloadedStates>.name,
                                               map_name<HybridOffload>.name};
  MapReader const map(reader, field, kinds_of_offload);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of states and hybrid");
  read_one_of<OffloadedStates>(reader, map, kinds_of_offload[0], value);
  read_one_of<HybridOffload>(reader, map, kinds_of_offload[1], value);
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::Worlds kind, std::vector<World>& value) {
  if (field.node->kind != Node::Kind::sequence || field.node->items.empty()) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  std::size_t const before = reader.problems().size();
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    Field const one = field.item(i);
    World& world = value.emplace_back();
    if (one.node->kind == Node::Kind::map)
      read_map(reader, one, world);
    else
      reader.integer(one, mesh_range, world.shard);
  }
  return reader.problems().size() == before;
}

bool read_value(Reader& reader, Field const& field, kinds::EngineName kind, std::string& value) {
  std::string found;
  if (!reader.text(field, found)) return false;
  if (!is_engine_name(found)) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  value = std::move(found);
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::EngineOptions,
                kinds::EngineOptions::Value& value) {
  if (!reader.is_map(field, "options")) return false;
  for (Entry const& entry : field.node->entries) {
    Field const option = field.value(entry);
    bool const has_value =
        entry.value->kind == Node::Kind::scalar && entry.value->scalar != ScalarKind::null;
    if (has_value) {
      value.emplace_back(entry.key, entry.value->text);
    } else {
      reader.mismatch(option, "the value of an option, a scalar");
    }
  }
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::Choices,
                std::vector<std::uint32_t>& value) {
  if (!reader.is_sequence(field, "recorded choices")) return false;
  constexpr IntegerRange any_choice{0, 0xFFFFFFFF};
  value.reserve(field.node->items.size());
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    std::int64_t choice = 0;
    if (reader.integer(field.item(i), any_choice, choice))
      value.push_back(static_cast<std::uint32_t>(choice));
  }
  return true;
}

void check_keys(Reader& reader, MapReader const& map, Scenario const&) {
  auto const worlds = map.find("worlds");
  if (worlds && map.find("world"))
    reader.fail(*worlds, "the first of several worlds stands for `world`; leave out that key");
}

void check_keys(Reader& reader, MapReader const& map, Again const& again) {
  if (again.resumed_after) return;
  for (std::string_view const key : {"through", "order"})
    if (auto const field = map.find(key))
      reader.fail(*field, "is about a run that is resumed; expected `resumed_after`, too");
}

// A record says every choice, and only pct has a depth: what would be ignored is a mistake.
void check_keys(Reader& reader, MapReader const& map, Schedule const& schedule) {
  bool const recorded = map.find("choices").has_value();
  for (std::string_view const key : {"strategy", "seed", "depth"}) {
    if (auto const field = map.find(key); field && recorded)
      reader.fail(*field, "recorded choices stand alone; leave out either choices or this key");
  }
  auto const depth = map.find("depth");
  if (depth && !recorded && schedule.strategy != Schedule::Strategy::pct)
    reader.fail(*depth, "only the strategy pct has a depth, found " +
                            std::string(word_for(schedule.strategy)));
}

}  // namespace adamant::scenarios
