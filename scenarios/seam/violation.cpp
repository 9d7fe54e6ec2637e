#include "scenarios/seam/violation.h"

#include <algorithm>

#include "scenarios/language/words.h"

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
    {Breach::other_value, "other_value", Kind::number},
    {Breach::other_scale, "other_scale", Kind::number, {"/scale", "scale"}},
    {Breach::other_code, "other_code", Kind::number, {"/raw", "code"}},
    {Breach::other_amax, "other_amax", Kind::number, {"/amax", "amax"}},
    {Breach::other_history, "other_history", Kind::number, {"/history", "history"}},
    {Breach::other_next_scale, "other_next_scale", Kind::number, {"/next_scale", "next scale"}},
    {Breach::outside_reduction, "outside_reduction", Kind::number},
    {Breach::outside_clip, "outside_clip", Kind::number},
    {Breach::outside_unscale, "outside_unscale", Kind::number},
    {Breach::outside_step, "outside_step", Kind::number},
    {Breach::other_type, "other_type", Kind::value},
    {Breach::other_elements, "other_elements", Kind::value},
    {Breach::other_size, "other_size", Kind::value},
    {Breach::gradient_presence, "gradient_presence", Kind::value},
    {Breach::other_step_count, "other_step_count", Kind::value},
    {Breach::other_settings, "other_settings", Kind::value},
    {Breach::other_scaling, "other_scaling", Kind::value},
    {Breach::other_gathered, "other_gathered", Kind::value},
    {Breach::moved, "moved", Kind::memory},
    {Breach::other_live_bytes, "other_live_bytes", Kind::memory},
    {Breach::other_peak, "other_peak", Kind::memory},
    {Breach::other_allocation, "other_allocation", Kind::memory},
    {Breach::unlisted_allocation, "unlisted_allocation", Kind::memory},
    {Breach::dead_buffer, "dead_buffer", Kind::memory},
    {Breach::left_allocation, "left_allocation", Kind::memory},
    {Breach::left_handles, "left_handles", Kind::memory},
    {Breach::damage_unnoticed, "damage_unnoticed", Kind::checkpoint},
    {Breach::damage_misjudged, "damage_misjudged", Kind::checkpoint},
    {Breach::not_loaded, "not_loaded", Kind::checkpoint},
    {Breach::rounded_unasked, "rounded_unasked", Kind::checkpoint},
    {Breach::other_files, "other_files", Kind::checkpoint},
    {Breach::saved_otherwise, "saved_otherwise", Kind::checkpoint},
    {Breach::foreign_loaded, "foreign_loaded", Kind::checkpoint},
    {Breach::failed, "failed", Kind::failure},
    {Breach::no_answer, "no_answer", Kind::failure},
    {Breach::loaded_alone, "loaded_alone", Kind::failure},
    {Breach::failed_load_changed, "failed_load_changed", Kind::failure},
    {Breach::state_disagreed, "state_disagreed", Kind::failure},
    {Breach::used_without_state, "used_without_state", Kind::failure},
    {Breach::silent_about_state, "silent_about_state", Kind::failure},
    {Breach::memory_kept, "memory_kept", Kind::failure},
    {Breach::other_digest, "other_digest", Kind::further_run},
    {Breach::other_in_run, "other_in_run", Kind::further_run},
    {Breach::other_file_in_run, "other_file_in_run", Kind::further_run},
};
static_assert(std::size(breach_table) == static_cast<std::size_t>(Breach::other_file_in_run) + 1);

Row const* row_of(Breach breach) {
  auto const* const judged = std::get_if<JudgedBreach>(&breach);
  return judged == nullptr ? nullptr : std::ranges::find(breach_table, *judged, &Row::breach);
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
