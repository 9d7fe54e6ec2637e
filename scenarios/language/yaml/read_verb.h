// From a node to one action of a program, by the table of verbs.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "scenarios/language/verbs.h"
#include "scenarios/language/yaml/read.h"
#include "scenarios/language/yaml/suggest.h"

namespace adamant::scenarios {

// ---- {word: argument}: whether the verb takes one, and reads it into `action` -------------------

template <typename Struct>
bool read_argument(Reader&, Field const&, NoArgument, Struct&) {
  return false;
}
template <typename Struct>
bool read_argument(Reader& reader, Field const& field, OptionalKeys, Struct& action) {
  read_map(reader, field, action);
  return true;
}
template <typename Struct>
bool read_argument(Reader& reader, Field const& field, NameOrKeys, Struct& action) {
  auto const& name = std::get<0>(keys_of<Struct>);
  if (field.node->kind == Node::Kind::map) {
    read_map(reader, field, action);
  } else if (field.node->kind == Node::Kind::scalar) {
    read_key(reader, field, name, action);
  } else {
    reader.mismatch(field,
                    "the name of a checkpoint, or a map with the key " + std::string(name.key));
  }
  return true;
}
template <typename Struct, typename Place, typename Kind>
bool read_argument(Reader& reader, Field const& field, OneValue<Place, Kind> const& one,
                   Struct& action) {
  if (auto value = read_value(reader, field, one.kind)) put(action, one.place, std::move(*value));
  return true;
}

// ---- actions ------------------------------------------------------------------------------------

template <typename AnyAction>
std::string unknown_operation(std::string_view word) {
  return "unknown operation " + quote(word) + suggest(word, verb_words<AnyAction>) +
         "; known: " + list_words(verb_words<AnyAction>);
}

/// Calls `visit(verb)` for the verb of that word. False where there is none.
template <typename AnyAction>
bool visit_verb(std::string_view word, auto const& visit) {
  bool known = false;
  for_each_verb<AnyAction>([&](auto const& verb) {
    if (verb.word != word) return;
    known = true;
    visit(verb);
  });
  return known;
}

template <typename AnyAction>
std::optional<AnyAction> read_bare_word(Reader& reader, Field const& field) {
  auto const word = read_value(reader, field, kinds::Text{});
  if (!word) return std::nullopt;
  std::optional<AnyAction> action;
  bool const known = visit_verb<AnyAction>(*word, [&](auto const& verb) {
    using Row = std::remove_cvref_t<decltype(verb)>;
    if constexpr (may_be_bare<decltype(Row::argument)>) action = typename Row::Action{};
  });
  if (!known) return reader.fail(field, unknown_operation<AnyAction>(*word));
  if (!action) return reader.fail(field, *word + " needs a value, as in {" + *word + ": ...}");
  return action;
}

template <typename AnyAction>
std::optional<AnyAction> read_with_argument(Reader& reader, Field const& field) {
  if (field.node->entries.size() != 1)
    return reader.fail(field, "expected one operation, found a map of " +
                                  std::to_string(field.node->entries.size()) + " keys");
  Entry const& entry = field.node->entries.front();
  Field const argument = field.value(entry);
  std::optional<AnyAction> action;
  bool const known = visit_verb<AnyAction>(entry.key, [&](auto const& verb) {
    typename std::remove_cvref_t<decltype(verb)>::Action read;
    if (read_argument(reader, argument, verb.argument, read)) action = std::move(read);
  });
  if (!known)
    return reader.fail(entry.line, argument.path, unknown_operation<AnyAction>(entry.key));
  if (!action)
    return reader.fail(entry.line, argument.path,
                       "this operation takes no value; write it as a bare word");
  return action;
}

/// The action at a node, or nothing where a problem was noted.
template <typename AnyAction>
std::optional<AnyAction> read_action(Reader& reader, Field const& field) {
  if (field.node->kind == Node::Kind::map) return read_with_argument<AnyAction>(reader, field);
  if (field.node->kind == Node::Kind::scalar) return read_bare_word<AnyAction>(reader, field);
  return reader.mismatch(field, "an operation");
}

}  // namespace adamant::scenarios
