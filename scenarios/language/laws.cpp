#include "scenarios/language/laws.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace adamant::scenarios {

namespace {

struct Row {
  Law law;
  Meaning meaning;
};

#define ADAMANT_ROW(law, name, text) {Law::law, {name, text}},
#define ADAMANT_NO_ROW(law, name, text)
// Warnings stand last.
constexpr Row law_table[] = {
#define ADAMANT_JUDGED_LAW ADAMANT_ROW
#define ADAMANT_LAW ADAMANT_ROW
#define ADAMANT_WARNING ADAMANT_NO_ROW
#include "scenarios/language/laws.inc"
#define ADAMANT_LAW ADAMANT_NO_ROW
#define ADAMANT_WARNING ADAMANT_ROW
#include "sim/laws.inc"
};
#undef ADAMANT_NO_ROW
#undef ADAMANT_ROW

constexpr bool is_warning(Row const& row) {
  auto const* const law = std::get_if<sim::Law>(&row.law);
  return law != nullptr && sim::is_warning(*law);
}

constexpr auto law_meanings = [] {
  std::array<Meaning, std::size(law_table)> meanings;
  std::ranges::transform(law_table, meanings.begin(), &Row::meaning);
  return meanings;
}();
constexpr auto warning_count =
    static_cast<std::size_t>(std::ranges::count_if(law_table, is_warning));
constexpr std::size_t law_count = law_meanings.size() - warning_count;

constexpr Meaning reason_table[] = {
    {"unsupported", "a well-formed scenario that this engine does not execute"},
    {"unsupported.again", "a further run that need not come to the same, or cannot be made"},
    {"unsupported.bias_correction", "moments are always corrected, or never"},
    {"unsupported.both_offloads", "states are moved where a part of the step runs on the CPU"},
    {"unsupported.bug", "this engine has no defects to switch on"},
    {"unsupported.capturable", "capturable with offload, or on an engine without graphs"},
    {"unsupported.capture_not_capturable", "capture and replay need optimizer.capturable"},
    {"unsupported.captured_cast_gradient", "a cast gradient that comes and goes in a capture"},
    {"unsupported.captured_gradients", "a captured backward needs exact gradients"},
    {"unsupported.captured_loopback", "ranks that share a GPU by the loop-back are not captured"},
    {"unsupported.captured_operation", "an operation that graphs do not record"},
    {"unsupported.clip", "gradients are not clipped"},
    {"unsupported.clip_without_norm", "a bare clip needs a number in optimizer.clip"},
    {"unsupported.decoupled_grad", "gradients are not handed over as cast copies"},
    {"unsupported.duplicate_main", "param and main are of one type: two copies of one weight"},
    {"unsupported.empty_tensor", "this engine wants elements in every parameter"},
    {"unsupported.engine", "this program cannot drive that engine"},
    {"unsupported.engine_options", "an option, or a value of it, that the engine does not offer"},
    {"unsupported.extent", "more settings, further runs or captured operations than are looked at"},
    {"unsupported.faults", "a fault that cannot be injected there"},
    {"unsupported.gradients", "gradients of this class are not for this engine"},
    {"unsupported.layout", "this engine lays parameters out otherwise"},
    {"unsupported.layout_padding", "a buffer of the layout would be padding for the most part"},
    {"unsupported.load", "this engine loads no checkpoints"},
    {"unsupported.loss_scale", "losses are not scaled, or not like that"},
    {"unsupported.microbatches", "more microbatches than can be summed"},
    {"unsupported.narrow_main", "main would have fewer bits than param"},
    {"unsupported.nested_capture", "a capture inside a capture"},
    {"unsupported.offload", "an offload of nothing, or of what this engine does not offload"},
    {"unsupported.optimizer", "this engine has another optimizer"},
    {"unsupported.order", "a load cannot register parameters in another order"},
    {"unsupported.outer", "replicas share out nothing, or everything"},
    {"unsupported.overflow", "overflows are not made on purpose"},
    {"unsupported.parts", "parameters are saved as a whole"},
    {"unsupported.precision",
     "types that this engine does not combine, or does not change in a load"},
    {"unsupported.quantised_main", "a quantised parameter is made from main: fp32"},
    {"unsupported.ranks", "the world is larger than this engine runs"},
    {"unsupported.recipe_shape", "a parameter's own recipe needs a matrix of whole blocks"},
    {"unsupported.reload_resident", "reload of what is resident"},
    {"unsupported.remainder", "a remainder is of bf16 parameters alone"},
    {"unsupported.replay_without_capture", "a replay needs a capture before it"},
    {"unsupported.replicate", "the world is sharded only, or replicated less often"},
    {"unsupported.reused_gradients",
     "gradients are used again, or left, that the engine has unscaled in place"},
    {"unsupported.save", "this engine saves no checkpoints"},
    {"unsupported.schedule", "schedules are not enumerated, or there is nothing to choose"},
    {"unsupported.set", "a setting that cannot be changed in the middle of a program"},
    {"unsupported.state_scale", "fp8 states without a scale"},
    {"unsupported.step_counter", "parameters without gradient in a step are counted otherwise"},
    {"unsupported.tied", "a parameter has one name"},
    {"unsupported.zero_grad", "gradients are left otherwise"},
    {"scalar_parameter", "a 0-dimensional parameter has no rows to shard"},
    {"out_of_memory", "a device or the host has less memory than the scenario needs"},
    {"damaged_checkpoint", "a checkpoint is there but not whole"},
    {"incompatible_checkpoint", "a checkpoint does not fit what it is loaded into"},
};

}  // namespace

std::span<Meaning const> laws() {
  return std::span(law_meanings).first(law_count);
}
std::span<Meaning const> warnings() {
  return std::span(law_meanings).last(warning_count);
}
std::string_view id_of(Law law) {
  return std::ranges::find(law_table, law, &Row::law)->meaning.id;
}
std::optional<Law> law_of(std::string_view id) {
  auto const* const found =
      std::ranges::find(law_table, id, [](Row const& row) { return row.meaning.id; });
  if (found == std::end(law_table)) return std::nullopt;
  return found->law;
}
std::span<Meaning const> refusal_reasons() {
  return reason_table;
}
bool matches(std::string_view pattern, std::string_view id) {
  if (pattern.empty() || !id.starts_with(pattern)) return false;
  return id.size() == pattern.size() || id[pattern.size()] == '.';
}

bool matches(std::string_view pattern, Law law) {
  return matches(pattern, id_of(law));
}

bool is_known(std::string_view pattern, std::span<Meaning const> table) {
  return std::any_of(table.begin(), table.end(),
                     [&](Meaning const& entry) { return matches(pattern, entry.id); });
}

}  // namespace adamant::scenarios
