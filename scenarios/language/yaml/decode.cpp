#include "scenarios/language/yaml/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "scenarios/bugs/catalogue.h"
#include "scenarios/language/laws.h"
#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/read_verb.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

namespace {

std::vector<std::string_view> ids_of(std::span<Meaning const> table) {
  std::vector<std::string_view> ids;
  for (Meaning const& entry : table) ids.push_back(entry.id);
  return ids;
}

void read_id(Reader& reader, Field const& field, std::span<Meaning const> table, std::string& id) {
  std::string found;
  if (!reader.text(field, found)) return;
  if (!is_known(found, table)) {
    auto const ids = ids_of(table);
    return reader.fail(field, fmt::format("unknown id {}{}; known: {}", quote(found),
                                          suggest(found, ids), fmt::join(ids, ", ")));
  }
  id = std::move(found);
}

/// Notes where the keys stand that a refusal may name: those of the document and its optimizer.
void note_lines(Node const& document, KeyLines& lines) {
  auto const note = [&](Node const& map, std::span<std::string_view const> keys) {
    for (Entry const& entry : map.entries)
      if (auto const key = std::find(keys.begin(), keys.end(), entry.key); key != keys.end())
        lines.note(*key, {entry.value->line});
  };
  note(document, key_names<Scenario>);
  for (Entry const& entry : document.entries)
    if (entry.key == "optimizer") note(*entry.value, key_names<Optimizer>);
}

}  // namespace

bool read_value(Reader& reader, Field const& field, kinds::Version kind, std::int64_t&) {
  Node const& node = *field.node;
  bool const is_one = node.kind == Node::Kind::scalar && node.scalar == ScalarKind::integer &&
                      to_int64(node.text) == 1;
  if (!is_one) reader.mismatch(field, values_of(kind));
  return is_one;
}

bool read_value(Reader& reader, Field const& field, kinds::Bug, std::string& value) {
  std::string id;
  if (!reader.text(field, id)) return false;
  // The corpus names bugs, which a program with mutants in their place reads all the same.
  if (bugs::find(id) == nullptr && !bugs::is_of_mutants()) {
    reader.fail(field, "no catalogued bug is called " + quote(id) + suggest(id, bugs::ids()) +
                           "; `adamant bugs` lists them");
    return false;
  }
  value = std::move(id);
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::Expected kind, Expectation& value) {
  Node const& node = *field.node;
  bool const is_pass =
      node.kind == Node::Kind::scalar && node.scalar == ScalarKind::text && node.text == "pass";
  if (is_pass) return true;
  if (node.kind != Node::Kind::map) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  static constexpr std::array<std::string_view, 2> keys{"violates", "refused"};
  MapReader const map(reader, field, keys);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of violates and refused");
  map.optional("violates", [&](Field const& f) {
    value.kind = Expectation::Kind::violates;
    read_id(reader, f, laws(), value.id);
  });
  map.optional("refused", [&](Field const& f) {
    value.kind = Expectation::Kind::refused;
    bool const is_any = f.node->kind == Node::Kind::scalar && f.node->text == "any";
    if (is_any) {
      value.id = "any";
    } else {
      read_id(reader, f, refusal_reasons(), value.id);
    }
  });
  return true;
}

Scenario decode_scenario(Reader& reader, Node const& root, LoadOptions const& options) {
  Scenario scenario;
  Field const document{&root, ""};
  note_lines(root, scenario.lines);
  read_map(reader, document, scenario);
  if (reader.problems().empty()) check_references(reader, scenario, document, options);
  return scenario;
}

/// The operations of a program: a bare word, or {word: argument}.
bool read_value(Reader& reader, Field const& field, kinds::Operations,
                std::vector<Operation>& value) {
  if (!reader.is_sequence(field, "operations")) return false;
  if (field.node->items.empty()) {
    reader.fail(field, "expected at least one operation");
    return false;
  }
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    Field const item = field.item(i);
    if (auto action = read_action<Action>(reader, item))
      value.push_back({std::move(*action), {item.node->line}});
  }
  return true;
}

}  // namespace adamant::scenarios
