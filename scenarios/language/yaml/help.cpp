#include "scenarios/language/yaml/help.h"

#include <fmt/format.h>

#include <algorithm>
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

/// A place as errors name it: the key, and the map that it stands in.
struct Place {
  std::string_view map;
  std::string_view key;
};
Place place_of(std::string_view path) {
  auto const last_of = [](std::string_view names) { return names.substr(names.rfind('.') + 1); };
  std::string_view const key = last_of(path);
  std::string_view map =
      last_of(path.substr(0, path.size() - std::min(path.size(), key.size() + 1)));
  map = map.substr(0, map.find('['));
  if (map == "params") map = map_name<Param>.name;  // lists are called after what they hold
  if (map == "faults") map = map_name<Fault>.name;
  return {.map = map, .key = key};
}

void add_help_on_place(Place const& place, std::vector<HelpEntry>& entries) {
  for_each_map([&]<typename T>() {
    if (map_name<T>.name != place.map) return;
    for_each_key<T>([&](auto const& row) {
      if (row.key == place.key) entries.push_back(entry_of<T>(row));
    });
  });
}

/// What stands between the bars of a table.
std::string cell(std::string_view text) {
  std::string escaped;
  for (char const letter : text)
    escaped += letter == '|' ? std::string("\\|") : std::string{letter};
  return escaped;
}

void add_table(std::string& page, std::string_view title, std::span<HelpEntry const> entries) {
  page += fmt::format("\n## {}\n\n| | meaning | values | default |\n|---|---|---|---|\n", title);
  for (HelpEntry const& entry : entries)
    page += fmt::format("| `{}` | {} | {} | {} |\n", entry.word, cell(entry.meaning),
                        cell(entry.values), cell(entry.default_value));
}

}  // namespace

std::vector<HelpEntry> help_on(std::string_view word) {
  std::vector<HelpEntry> entries;
  for_each_map([&]<typename T>() { add_help<T>(word, entries); });
  for (HelpEntry const& verb : help_on_verbs<Action>())
    if (verb.word == word) entries.push_back(verb);
  add_help_on_identifier(word, entries);
  if (entries.empty()) add_help_on_place(place_of(word), entries);
  return entries;
}

std::string key_page() {
  std::string page =
      "# Every key\n\nMade from the tables of the language (`language/table.h`, `recipe_table.h`, "
      "`verbs.h`) by `adamant_schema scenarios`.\n`adamant help KEY` says the same, with an "
      "example.\n";
  for_each_map([&]<typename T>() {
    std::vector<HelpEntry> entries;
    for_each_key<T>([&](auto const& row) { entries.push_back(entry_of<T>(row)); });
    add_table(page, map_name<T>.name, entries);
  });
  add_table(page, "operations of `program`", help_on_verbs<Action>());
  return page;
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
