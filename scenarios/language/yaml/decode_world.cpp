#include <string_view>
#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/words.h"

namespace adamant::scenarios {

namespace {

constexpr IntegerRange mesh_range{1, std::int64_t{1} << 20};

void decode_states(Reader& reader, Field const& field, Offload& offload) {
  OffloadedStates states;
  MapReader const map(reader, field, keys::states);
  map.optional("moments", [&](Field const& f) { reader.boolean(f, states.moments); });
  map.optional("main", [&](Field const& f) { reader.boolean(f, states.main); });
  offload = states;
}

void decode_hybrid(Reader& reader, Field const& field, Offload& offload) {
  HybridOffload hybrid;
  MapReader const map(reader, field, keys::hybrid);
  map.optional("fraction", [&](Field const& f) { reader.fraction(f, hybrid.fraction); });
  map.optional("overlap", [&](Field const& f) { reader.boolean(f, hybrid.overlap); });
  map.optional("pin_grads", [&](Field const& f) { reader.boolean(f, hybrid.pin_grads); });
  map.optional("pin_params", [&](Field const& f) { reader.boolean(f, hybrid.pin_params); });
  offload = hybrid;
}

void decode_engine_name(Reader& reader, Field const& field, std::string& name) {
  std::string found;
  if (!reader.text(field, found)) return;
  if (is_engine_name(found)) {
    name = std::move(found);
  } else {
    reader.mismatch(field, list_words(engine_names) + ", or exec:COMMAND");
  }
}

void decode_engine_options(Reader& reader, Field const& field, EngineChoice& engine) {
  if (!reader.is_map(field, "options")) return;
  for (Entry const& entry : field.node->entries) {
    Field const option = field.value(entry);
    bool const has_value =
        entry.value->kind == Node::Kind::scalar && entry.value->scalar != ScalarKind::null;
    if (has_value) {
      engine.options.emplace_back(entry.key, entry.value->text);
    } else {
      reader.mismatch(option, "the value of an option, a scalar");
    }
  }
}

void decode_choices(Reader& reader, Field const& field, Schedule& schedule) {
  if (!reader.is_sequence(field, "recorded choices")) return;
  constexpr IntegerRange any_choice{0, 0xFFFFFFFF};
  auto& choices = schedule.choices.emplace();
  choices.reserve(field.node->items.size());
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    std::int64_t choice = 0;
    if (reader.integer(field.item(i), any_choice, choice)) {
      choices.push_back(static_cast<std::uint32_t>(choice));
    }
  }
}

/// A record says every choice, and only pct has a depth: what would be ignored is a mistake.
void check_schedule(Reader& reader, MapReader const& map, Schedule const& schedule) {
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

Fault decode_fault(Reader& reader, Field const& field) {
  Fault fault;
  MapReader const map(reader, field, keys::fault);
  map.required("at", [&](Field const& f) { reader.word(f, fault.at); });
  map.required("then", [&](Field const& f) { reader.word(f, fault.then); });
  auto const number = [&](std::string_view key, IntegerRange range,
                          std::optional<std::int64_t>& value) {
    map.optional(key, [&](Field const& f) {
      std::int64_t found = 0;
      if (reader.integer(f, range, found)) value = found;
    });
  };
  number("rank", any_index, fault.rank);
  number("nth", any_count, fault.nth);
  number("after_bytes", any_index, fault.after_bytes);
  number("file", any_index, fault.file);
  number("byte", any_index, fault.byte);
  return fault;
}

}  // namespace

void decode_world(Reader& reader, Field const& field, World& world) {
  MapReader const map(reader, field, keys::world);
  map.required("shard", [&](Field const& f) { reader.integer(f, mesh_range, world.shard); });
  map.optional("replicate",
               [&](Field const& f) { reader.integer(f, mesh_range, world.replicate); });
}

void decode_offload(Reader& reader, Field const& field, Offload& offload) {
  Node const& node = *field.node;
  if (node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text && node.text == "none") {
    offload = std::monostate{};
    return;
  }
  if (node.kind != Node::Kind::map) {
    reader.mismatch(field, "none, {states: {...}} or {hybrid: {...}}");
    return;
  }
  MapReader const map(reader, field, keys::offload);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of states and hybrid");
  map.optional("states", [&](Field const& f) { decode_states(reader, f, offload); });
  map.optional("hybrid", [&](Field const& f) { decode_hybrid(reader, f, offload); });
}

void decode_engine(Reader& reader, Field const& field, EngineChoice& engine) {
  MapReader const map(reader, field, keys::engine);
  map.optional("name", [&](Field const& f) { decode_engine_name(reader, f, engine.name); });
  map.optional("options", [&](Field const& f) { decode_engine_options(reader, f, engine); });
}

void decode_schedule(Reader& reader, Field const& field, Schedule& schedule) {
  MapReader const map(reader, field, keys::schedule);
  map.optional("strategy", [&](Field const& f) { reader.word(f, schedule.strategy); });
  map.optional("seed", [&](Field const& f) {
    std::uint64_t seed = 0;
    if (reader.seed(f, seed)) schedule.seed = seed;
  });
  map.optional("depth", [&](Field const& f) {
    std::int64_t depth = 0;
    if (reader.integer(f, any_count, depth)) schedule.depth = depth;
  });
  map.optional("choices", [&](Field const& f) { decode_choices(reader, f, schedule); });
  check_schedule(reader, map, schedule);
}

void decode_faults(Reader& reader, Field const& field, std::vector<Fault>& faults) {
  if (!reader.is_sequence(field, "faults")) return;
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    faults.push_back(decode_fault(reader, field.item(i)));
  }
}

}  // namespace adamant::scenarios
