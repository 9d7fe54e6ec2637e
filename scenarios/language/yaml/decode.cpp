#include "scenarios/language/yaml/decode.h"

#include <utility>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/words.h"

namespace adamant::scenarios {

namespace {

void decode_version(Reader& reader, Field const& field) {
  Node const& node = *field.node;
  bool const is_one = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::integer &&
                      to_int64(node.text) == 1;
  if (!is_one) reader.mismatch(field, "1, the only version of the format");
}

std::string ids_of(std::span<Meaning const> table) {
  std::string list;
  for (Meaning const& entry : table) list += (list.empty() ? "" : ", ") + std::string(entry.id);
  return list;
}

void decode_bug(Reader& reader, Field const& field, std::optional<std::string>& bug) {
  std::string id;
  if (!reader.text(field, id)) return;
  // The corpus names bugs, which a program with mutants in their place reads all the same.
  if (bugs::find(id) == nullptr && !bugs::is_of_mutants()) {
    return reader.fail(field, "no catalogued bug is called " + quote(id) +
                                  suggest(id, bugs::ids()) + "; `adamant bugs` lists them");
  }
  bug = std::move(id);
}

void decode_id(Reader& reader, Field const& field, std::span<Meaning const> table,
               std::string& id) {
  std::string found;
  if (!reader.text(field, found)) return;
  if (!is_known(found, table)) {
    return reader.fail(field, "unknown id " + quote(found) + "; known: " + ids_of(table));
  }
  id = std::move(found);
}

void decode_expect(Reader& reader, Field const& field, Expectation& expect) {
  Node const& node = *field.node;
  bool const is_pass =
      node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text && node.text == "pass";
  if (is_pass) return;
  if (node.kind != Node::Kind::map) {
    return reader.mismatch(field, "pass, {violates: LAW} or {refused: REASON}");
  }
  MapReader const map(reader, field, keys::expect);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of violates and refused");
  map.optional("violates", [&](Field const& f) {
    expect.kind = Expectation::Kind::violates;
    decode_id(reader, f, laws(), expect.id);
  });
  map.optional("refused", [&](Field const& f) {
    expect.kind = Expectation::Kind::refused;
    bool const is_any = f.node->kind == Node::Kind::scalar && f.node->text == "any";
    if (is_any) {
      expect.id = "any";
    } else {
      decode_id(reader, f, refusal_reasons(), expect.id);
    }
  });
}

void decode_text(Reader& reader, Field const& field, std::optional<std::string>& value) {
  std::string found;
  if (reader.text(field, found)) value = std::move(found);
}

/// Notes where the keys stand that a refusal may name.
void note_places(MapReader const& map, Places& places) {
  static constexpr std::pair<std::string_view, Place> named[] = {
      {"layout", Place::layout},       {"world", Place::world},
      {"precision", Place::precision}, {"offload", Place::offload},
      {"engine", Place::engine},       {"schedule", Place::schedule},
      {"faults", Place::faults},       {"microbatches", Place::microbatches},
      {"optimizer", Place::optimizer}, {"groups", Place::groups},
      {"gradients", Place::gradients}, {"bug", Place::bug},
  };
  for (auto const& [key, place] : named) {
    map.optional(key, [&, at = place](Field const& f) { places[at] = {f.node->line}; });
  }
}

void decode_head(Reader& reader, MapReader const& map, Scenario& scenario) {
  map.required("adamant", [&](Field const& f) { decode_version(reader, f); });
  map.required("name", [&](Field const& f) { reader.text(f, scenario.name); });
  map.optional("about", [&](Field const& f) { decode_text(reader, f, scenario.about); });
  map.optional("source", [&](Field const& f) { decode_text(reader, f, scenario.source); });
  map.optional("seed", [&](Field const& f) {
    std::uint64_t seed = 0;
    if (reader.seed(f, seed)) scenario.seed = seed;
  });
}

void decode_body(Reader& reader, MapReader const& map, LoadOptions const& options,
                 Scenario& scenario) {
  map.required("world", [&](Field const& f) { decode_world(reader, f, scenario.world); });
  map.optional("layout", [&](Field const& f) { reader.word(f, scenario.layout); });
  map.required("params", [&](Field const& f) { decode_params(reader, f, options, scenario); });
  map.optional("groups", [&](Field const& f) { decode_groups(reader, f, scenario.groups); });
  map.optional("precision", [&](Field const& f) {
    PrecisionOverride recipe;
    decode_precision(reader, f, recipe);
    scenario.precision = with(scenario.precision, recipe);
  });
  map.optional("optimizer", [&](Field const& f) { decode_optimizer(reader, f, scenario); });
  map.optional("offload", [&](Field const& f) { decode_offload(reader, f, scenario.offload); });
  map.optional("gradients", [&](Field const& f) { reader.word(f, scenario.gradients); });
  map.optional("microbatches", [&](Field const& f) {
    std::int64_t count = 0;
    if (reader.integer(f, any_count, count)) scenario.microbatches = count;
  });
  map.required("program", [&](Field const& f) { decode_program(reader, f, scenario.program); });
}

void decode_tail(Reader& reader, MapReader const& map, Scenario& scenario) {
  map.optional("engine", [&](Field const& f) { decode_engine(reader, f, scenario.engine); });
  map.optional("schedule", [&](Field const& f) { decode_schedule(reader, f, scenario.schedule); });
  map.optional("faults", [&](Field const& f) { decode_faults(reader, f, scenario.faults); });
  map.optional("bug", [&](Field const& f) { decode_bug(reader, f, scenario.bug); });
  map.optional("expect", [&](Field const& f) { decode_expect(reader, f, scenario.expect); });
}

}  // namespace

Scenario decode_scenario(Reader& reader, Node const& root, LoadOptions const& options) {
  Scenario scenario;
  MapReader const map(reader, {&root, ""}, keys::scenario);
  note_places(map, scenario.places);
  decode_head(reader, map, scenario);
  decode_body(reader, map, options, scenario);
  decode_tail(reader, map, scenario);
  if (reader.problems().empty()) check_references(reader, scenario, map, options);
  return scenario;
}

}  // namespace adamant::scenarios
