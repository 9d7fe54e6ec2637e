#include "scenarios/language/yaml/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

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
  visit.template operator()<EngineChoice>();
  visit.template operator()<Schedule>();
  visit.template operator()<Fault>();
}

}  // namespace

std::vector<HelpEntry> help_on(std::string_view word) {
  std::vector<HelpEntry> entries;
  for_each_map([&]<typename T>() { add_help<T>(word, entries); });
  add_help_on_verb<Action>(word, entries);
  return entries;
}

std::vector<std::string_view> words_with_help() {
  std::set<std::string_view> words(verb_words<Action>.begin(), verb_words<Action>.end());
  for_each_map([&]<typename T>() { words.insert(key_names<T>.begin(), key_names<T>.end()); });
  return {words.begin(), words.end()};
}

std::string text_of(HelpEntry const& entry) {
  std::string text = fmt::format("{}, {}: {}\n  values:  {}\n", entry.word, entry.where,
                                 entry.meaning, entry.values);
  if (!entry.default_value.empty()) text += fmt::format("  default: {}\n", entry.default_value);
  return text + fmt::format("  example: {}\n", entry.example);
}

}  // namespace adamant::scenarios
