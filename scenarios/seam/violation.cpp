#include "scenarios/seam/violation.h"

#include <algorithm>
#include <array>

#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

constexpr auto breach_names = std::to_array<std::string_view>({
    "other_value",
    "other_scale",
    "other_code",
    "other_amax",
    "other_history",
    "other_next_scale",
    "outside_reduction",
    "outside_clip",
    "outside_unscale",
    "outside_step",
    "other_type",
    "other_elements",
    "other_size",
    "gradient_presence",
    "other_step_count",
    "other_settings",
    "other_scaling",
    "other_gathered",
    "moved",
    "other_live_bytes",
    "other_peak",
    "other_allocation",
    "unlisted_allocation",
    "dead_buffer",
    "left_allocation",
    "left_handles",
    "damage_unnoticed",
    "damage_misjudged",
    "not_loaded",
    "rounded_unasked",
    "other_files",
    "saved_otherwise",
    "foreign_loaded",
    "failed",
    "no_answer",
    "loaded_alone",
    "failed_load_changed",
    "state_disagreed",
    "used_without_state",
    "silent_about_state",
    "memory_kept",
    "other_digest",
    "other_in_run",
    "other_file_in_run",
    "unordered_accesses",
    "freed_before_allocated",
    "used_before_allocated",
    "used_after_free",
    "freed_since_capture",
    "beyond_end",
    "outside",
    "bad_address",
    "misaligned",
    "not_registered",
    "not_reachable",
    "of_other_device",
    "not_written",
    "destroyed_handle",
    "returned_frame",
    "stale_setting",
    "not_capturable",
    "deadlock",
    "left_over",
    "calls_differ",
    "open_group",
    "unseen_error",
    "never_freed",
    "foreign_thread",
});
static_assert(breach_names.size() == static_cast<std::size_t>(Breach::foreign_thread) + 1);

}  // namespace

std::string_view name_of(Breach breach) {
  return breach_names[static_cast<std::size_t>(breach)];
}

std::optional<Breach> breach_of(std::string_view name) {
  return value_named<Breach>(breach_names, name);
}

std::optional<SettingDifference> setting_difference(Violation const& violation) {
  auto const* const right = std::get_if<AdamConfig>(&violation.expected);
  auto const* const wrong = std::get_if<AdamConfig>(&violation.actual);
  if (right == nullptr || wrong == nullptr) return std::nullopt;
  for (AdamNumber const& number : numbers_of_adam()) {
    SettingDifference const difference{number.key, number.beta, right->*number.place,
                                       wrong->*number.place};
    if (Number(difference.expected) != Number(difference.actual)) return difference;
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
