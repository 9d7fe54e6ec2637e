#include "scenarios/language/yaml/help.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <span>
#include <utility>

#include "scenarios/language/laws.h"

namespace adamant::scenarios {

namespace {

/// Calls `visit` with a value of the type of every map, from the outermost in.
template <typename Visit>
void for_each_map(Visit const& visit) {
  visit.template operator()<Scenario>();
  visit.template operator()<World>();
  visit.template operator()<Param>();
  visit.template operator()<AdamOverride>();
  visit.template operator()<Precision>();
  visit.template operator()<Optimizer>();
  visit.template operator()<OffloadedStates>();
  visit.template operator()<HybridOffload>();
  visit.template operator()<Backward>();
  visit.template operator()<ZeroGrad>();
  visit.template operator()<SettingsChange>();
  visit.template operator()<Load>();
  visit.template operator()<Again>();
  visit.template operator()<EngineChoice>();
  visit.template operator()<Schedule>();
  visit.template operator()<Fault>();
}

/// Identifiers of one kind, and where one stands in a scenario.
struct Identifiers {
  std::string_view where;
  std::span<Meaning const> table;
  std::string_view example;  // with {} in the place of the identifier
};

std::array<Identifiers, 3> identifiers() {
  return {{{"a law", laws(), "expect: {{violates: {}}}"},
           {"a warning, which fails under --strict", warnings(), ""},
           {"a reason of a refusal", refusal_reasons(), "expect: {{refused: {}}}"}}};
}

void add_help_on_identifier(std::string_view word, std::vector<HelpEntry>& entries) {
  for (Identifiers const& kind : identifiers())
    for (Meaning const& known : kind.table)
      if (known.id == word)
        entries.push_back({.word = std::string(word),
                           .where = std::string(kind.where),
                           .meaning = std::string(known.text),
                           .values = "",
                           .default_value = "",
                           .example = fmt::format(fmt::runtime(kind.example), word)});
}

}  // namespace

std::vector<HelpEntry> help_on(std::string_view word) {
  std::vector<HelpEntry> entries;
  for_each_map([&]<typename T>() { add_help<T>(word, entries); });
  add_help_on_verb<Action>(word, entries);
  add_help_on_identifier(word, entries);
  return entries;
}

std::vector<std::string_view> words_with_help() {
  std::set<std::string_view> words(verb_words<Action>.begin(), verb_words<Action>.end());
  for_each_map([&]<typename T>() {
    words.insert(key_names<T>.begin(), key_names<T>.end());
    for_each_key<T>([&](auto const& row) {
      for (std::string_view const taken : words_taken(row.kind)) words.insert(taken);
    });
  });
  for (Identifiers const& kind : identifiers())
    for (Meaning const& known : kind.table) words.insert(known.id);
  return {words.begin(), words.end()};
}

std::string text_of(HelpEntry const& entry) {
  std::string text = fmt::format("{}, {}: {}\n", entry.word, entry.where, entry.meaning);
  for (auto const& [title, said] : {std::pair{"values:  ", &entry.values},
                                    {"default: ", &entry.default_value},
                                    {"example: ", &entry.example}})
    if (!said->empty()) text += fmt::format("  {}{}\n", title, *said);
  return text;
}

}  // namespace adamant::scenarios
