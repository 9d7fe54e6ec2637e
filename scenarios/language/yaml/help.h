// `adamant help KEY`: what the tables say of a key, an operation, a law or a reason of refusals,
// for people. Every example can be put into a scenario file as it stands.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/write_value.h"

namespace adamant::scenarios {

/// One entry: where a word stands, and what is said of it. What does not apply is empty.
struct HelpEntry {
  std::string word;
  std::string where;  // "a key of optimizer", "an operation", "a law"
  std::string meaning;
  std::string values;
  std::string default_value;
  std::string example;  // a line of a scenario file

  friend bool operator==(HelpEntry const&, HelpEntry const&) = default;
};

/// All that is called `word`: keys and those that take it as a value, operations, laws and
/// warnings, reasons of refusals, in this order; empty where nothing is. Of a place as errors name
/// it, `program[1].set.lr`, it is the key in that map.
std::vector<HelpEntry> help_on(std::string_view word);

/// Every word that there is help on, each once.
std::vector<std::string_view> words_with_help();

/// As `adamant help` prints it.
std::string text_of(HelpEntry const& entry);

/// All keys and operations as tables in Markdown: scenarios/KEYS.md.
std::string key_page();

// ---- keys ---------------------------------------------------------------------------------------

template <typename T, typename Row>
std::string default_of(Row const& row) {
  if (!row.about.unless.empty())
    return "has to be written, unless " + std::string(row.about.unless) + " is";
  if (row.about.required) return "has to be written";
  if constexpr (may_be_absent<T, Row>) {
    return "absent";
  } else {
    std::string const text = write_value(row.kind, value_at(T{}, row.place));
    bool const empty = text.empty() || text == "{}" || text == "[]" || text == "\"\"";
    return empty ? "absent" : text;
  }
}

/// The document itself has no braces, and its other keys are not shown.
template <typename T, typename Row>
std::string example_line(Row const& row) {
  T const example = example_with<T>(row);
  if constexpr (std::is_same_v<T, Scenario>) {
    return std::string(row.key) + ": " + write_key(example, row);
  } else {
    return before_example(example) + write_map(example) + std::string(map_name<T>.behind);
  }
}

/// The words among which a value of such a kind is; none where it is no word.
std::span<std::string_view const> words_taken(auto const&) {
  return {};
}
template <typename Enum>
std::span<std::string_view const> words_taken(kinds::Words<Enum>) {
  return words_of<Enum>;
}

template <typename T, typename Row>
HelpEntry entry_of(Row const& row) {
  return {.word = std::string(row.key),
          .where = "a key of " + std::string(map_name<T>.name),
          .meaning = std::string(row.about.meaning),
          .values = values_of(row.kind),
          .default_value = default_of<T>(row),
          .example = example_line<T>(row)};
}

/// What T's table says of the key `word`, if it has it, and of those that take it as a value.
template <typename T>
void add_help(std::string_view word, std::vector<HelpEntry>& entries) {
  for_each_key<T>([&](auto const& row) {
    if (row.key == word || std::ranges::count(words_taken(row.kind), word) > 0)
      entries.push_back(entry_of<T>(row));
  });
}

// ---- operations ---------------------------------------------------------------------------------

template <typename Struct>
std::string values_of_argument(NoArgument) {
  return "none: a bare word";
}
template <typename Struct>
std::string values_of_argument(OptionalKeys) {
  return "a bare word, or " + values_of(kinds::Map<Struct>{});
}
template <typename Struct>
std::string values_of_argument(NameOrKeys) {
  return "the name of a checkpoint, or " + values_of(kinds::Map<Struct>{});
}
template <typename Struct, typename Place, typename Kind>
std::string values_of_argument(OneValue<Place, Kind> const& one) {
  return values_of(one.kind);
}

template <typename Struct>
Struct example_of_verb(NoArgument) {
  return {};
}
template <typename Struct>
Struct example_of_verb(OptionalKeys) {
  return example_of(kinds::Map<Struct>{}, {});
}
template <typename Struct>
Struct example_of_verb(NameOrKeys) {
  return example_of(kinds::Map<Struct>{}, {});
}
template <typename Struct, typename Place, typename Kind>
Struct example_of_verb(OneValue<Place, Kind> const& one) {
  Struct action;
  put(action, one.place, example_of(one.kind, {}));
  return action;
}

/// What the table of verbs says, in its order.
template <typename AnyAction>
std::vector<HelpEntry> help_on_verbs() {
  std::vector<HelpEntry> entries;
  for_each_verb<AnyAction>([&](auto const& verb) {
    using Struct = typename std::remove_cvref_t<decltype(verb)>::Action;
    std::string const example = write_action(AnyAction(example_of_verb<Struct>(verb.argument)));
    bool const bare = example == verb.word;
    entries.push_back({.word = std::string(verb.word),
                       .where = "an operation",
                       .meaning = std::string(verb.meaning),
                       .values = values_of_argument<Struct>(verb.argument),
                       .default_value = "",
                       .example = "program: [" + (bare ? example : "{" + example + "}") + "]"});
  });
  return entries;
}

}  // namespace adamant::scenarios
