// The odd values of where a scenario runs: several worlds, engines and their options, recorded
// choices, offloads.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "scenarios/language/engine_names.h"
#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

template <typename T>
void read_one_of(Reader& reader, MapReader const& map, Offload& offload) {
  auto const found = map.find(map_name<T>.name);
  if (auto value = found ? read_value(reader, *found, kinds::Map<T>{}) : std::nullopt)
    offload = *value;
}

}  // namespace

Read<kinds::Offloaded> read_value(Reader& reader, Field const& field, kinds::Offloaded kind) {
  Node const& node = *field.node;
  if (node.is_word("none")) return Offload();
  if (node.kind != Node::Kind::map) return reader.mismatch(field, values_of(kind));
  static constexpr std::array kinds_of_offload{map_name<OffloadedStates>.name,
                                               map_name<HybridOffload>.name};
  MapReader const map(reader, field, kinds_of_offload);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of states and hybrid");
  Offload offload;
  read_one_of<OffloadedStates>(reader, map, offload);
  read_one_of<HybridOffload>(reader, map, offload);
  return offload;
}

Read<kinds::Worlds> read_value(Reader& reader, Field const& field, kinds::Worlds kind) {
  if (field.node->items.empty()) return reader.mismatch(field, values_of(kind));
  return read_items<World>(
      reader, field, values_of(kind), [&](Field const& item) -> std::optional<World> {
        if (item.node->kind == Node::Kind::map)
          return read_value(reader, item, kinds::Map<World>{});
        auto const shards = read_value(reader, item, kinds::Integer{mesh_range});
        return shards ? std::optional(World{.shard = *shards}) : std::nullopt;
      });
}

Read<kinds::EngineName> read_value(Reader& reader, Field const& field, kinds::EngineName kind) {
  auto found = read_value(reader, field, kinds::Text{});
  if (found && !is_engine_name(*found)) return reader.mismatch(field, values_of(kind));
  return found;
}

Read<kinds::EngineOptions> read_value(Reader& reader, Field const& field,
                                      kinds::EngineOptions kind) {
  if (field.node->kind != Node::Kind::map) return reader.mismatch(field, values_of(kind));
  kinds::EngineOptions::Value options;
  for (Entry const& entry : field.node->entries) {
    bool const has_value =
        entry.value->kind == Node::Kind::scalar && !entry.value->is(ScalarKind::null);
    if (!has_value) reader.mismatch(field.value(entry), "the value of an option, a scalar");
    options.emplace_back(entry.key, entry.value->text);
  }
  return options;
}

Read<kinds::Choices> read_value(Reader& reader, Field const& field, kinds::Choices kind) {
  constexpr kinds::Integer any_choice{{0, 0xFFFFFFFF}};
  return read_items<std::uint32_t>(reader, field, values_of(kind), [&](Field const& item) {
    return read_value(reader, item, any_choice);
  });
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
    reader.fail(*depth, fmt::format("only the strategy pct has a depth, found {}",
                                    word_for(schedule.strategy)));
}

}  // namespace adamant::scenarios
