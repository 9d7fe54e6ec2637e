#include "scenarios/seam/violation.h"

#include <algorithm>

#include "scenarios/language/words.h"
#include "scenarios/seam/assert.h"

namespace adamant::scenarios {

namespace {

using Kind = BreachKind;

struct Row {
  JudgedBreach breach;
  std::string_view name;
  Kind kind;
  StoredPart part = {};
};

constexpr Row breach_table[] = {
#define ADAMANT_BREACH(name, kind, sentence, ...) \
  {Breach::name, #name, Kind::kind __VA_OPT__(, ) __VA_ARGS__},
#include "scenarios/seam/breaches.inc"
#undef ADAMANT_BREACH
};

Row const* row_of(Breach breach) {
  auto const* const judged = std::get_if<JudgedBreach>(&breach);
  if (judged == nullptr) return nullptr;
  auto const place = static_cast<std::size_t>(*judged);
  ADAMANT_RUN_ASSERT(place < std::size(breach_table));
  return &breach_table[place];
}

}  // namespace

BreachKind kind_of(Breach breach) {
  return is_of_world(breach) ? Kind::world : row_of(breach)->kind;
}

StoredPart part_of(Breach breach) {
  return is_of_world(breach) ? StoredPart{} : row_of(breach)->part;
}

std::string_view name_of(Breach breach) {
  auto const* const of_world = std::get_if<sim::Breach>(&breach);
  return of_world != nullptr ? sim::name_of(*of_world) : row_of(breach)->name;
}

std::optional<Breach> breach_of(std::string_view name) {
  auto const* const row = std::ranges::find(breach_table, name, &Row::name);
  if (row != std::end(breach_table)) return row->breach;
  return value_named<sim::Breach>(sim::breach_names, name);
}

std::optional<SettingDifference> setting_difference(Violation const& violation) {
  auto const* const right = std::get_if<AdamConfig>(&violation.expected);
  auto const* const wrong = std::get_if<AdamConfig>(&violation.actual);
  if (right == nullptr || wrong == nullptr) return std::nullopt;
  for (AdamNumber const& number : numbers_of_adam()) {
    SettingDifference const difference{number.key, number.beta, right->*number.place,
                                       wrong->*number.place};
    if (Number(difference.expected) != Number(difference.actual)) return difference;
  }
  return std::nullopt;
}

std::string tensor_name(std::string_view parameter, TensorKind kind) {
  std::string name(parameter);
  if (kind != TensorKind::parameter) name.append("/").append(name_of(kind));
  return name;
}

std::string_view last_lines(std::string_view text, int count) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::size_t begin = text.size();
  for (; count > 0 && begin > 0; --count) {
    auto const end = text.rfind('\n', begin - 1);
    begin = end == std::string_view::npos ? 0 : end;
  }
  text.remove_prefix(begin);
  return text.substr(text.starts_with('\n') ? 1 : 0);
}

std::vector<int> ranks_of(Violation const& violation) {
  bool const is_alone = violation.ranks.empty() && violation.rank >= 0;
  return is_alone ? std::vector{violation.rank} : violation.ranks;
}

void fold(Violation& into, Violation const& again) {
  ++into.count;
  std::vector<int> ranks = ranks_of(into);
  auto const at = std::ranges::lower_bound(ranks, again.rank);
  if (at != ranks.end() && *at == again.rank) return;
  ranks.insert(at, again.rank);
  into.ranks = std::move(ranks);
}

}  // namespace adamant::scenarios
