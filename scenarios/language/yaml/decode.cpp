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

/// An id of the table, or nothing.
std::optional<std::string> read_id(Reader& reader, Field const& field,
                                   std::span<Meaning const> table) {
  auto found = read_value(reader, field, kinds::Text{});
  if (!found || is_known(*found, table)) return found;
  std::vector<std::string_view> ids;
  for (Meaning const& entry : table) ids.push_back(entry.id);
  return reader.fail(field, fmt::format("unknown id {}{}; known: {}", quote(*found),
                                        suggest(*found, ids), fmt::join(ids, ", ")));
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

Read<kinds::Version> read_value(Reader& reader, Field const& field, kinds::Version kind) {
  bool const is_one = field.node->is(ScalarKind::integer) && to_int64(field.node->text) == 1;
  return is_one ? Read<kinds::Version>(1) : reader.mismatch(field, values_of(kind));
}

Read<kinds::Bug> read_value(Reader& reader, Field const& field, kinds::Bug) {
  auto id = read_value(reader, field, kinds::Text{});
  // The corpus names bugs, which a program with mutants in their place reads all the same.
  if (!id || bugs::find(*id) != nullptr || bugs::is_of_mutants()) return id;
  return reader.fail(field, "no catalogued bug is called " + quote(*id) +
                                suggest(*id, bugs::ids()) + "; `adamant bugs` lists them");
}

Read<kinds::Expected> read_value(Reader& reader, Field const& field, kinds::Expected kind) {
  Node const& node = *field.node;
  if (node.is_word("pass")) return Expectation{};
  if (node.kind != Node::Kind::map) return reader.mismatch(field, values_of(kind));
  static constexpr std::array<std::string_view, 2> keys{"violates", "refused"};
  MapReader const map(reader, field, keys);
  if (node.entries.size() != 1) reader.fail(field, "expected exactly one of violates and refused");
  Expectation expected;
  if (auto const law = map.find("violates"))
    expected = {Expectation::Kind::violates, read_id(reader, *law, laws()).value_or("")};
  if (auto const reason = map.find("refused")) {
    bool const is_any = reason->node->kind == Node::Kind::scalar && reason->node->text == "any";
    auto const id = is_any ? "any" : read_id(reader, *reason, refusal_reasons());
    expected = {Expectation::Kind::refused, id.value_or("")};
  }
  return expected;
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
Read<kinds::Operations> read_value(Reader& reader, Field const& field, kinds::Operations kind) {
  auto program = read_items<Operation>(reader, field, values_of(kind),
                                       [&](Field const& item) -> std::optional<Operation> {
                                         auto action = read_action<Action>(reader, item);
                                         if (!action) return std::nullopt;
                                         return Operation{std::move(*action), {item.node->line}};
                                       });
  if (program && program->empty()) return reader.fail(field, "expected at least one operation");
  return program;
}

}  // namespace adamant::scenarios
