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

constexpr Row of_world(sim::Law law, std::string_view text) {
  return {law, {sim::name_of(law), text}};
}

constexpr Row law_table[] = {
    {Law::values_bitwise,
     {"values.bitwise",
      "parameters, main weights, moments, scales and step equal the oracle's bits"}},
    {Law::values_interval,
     {"values.interval", "each value lies in the interval that the oracle derived for it"}},
    {Law::ranks_agree,
     {"ranks.agree", "replicas, step counters and skip decisions are the same on all ranks"}},
    {Law::pointers_stable,
     {"pointers.stable", "what must keep its address across the operation kept it"}},
    {Law::memory_budget,
     {"memory.budget", "live device and pinned bytes, by purpose, equal the oracle's count"}},
    of_world(Law::access_bounds, "no access outside of an allocation"),
    of_world(Law::access_uninitialized, "no read before the first write"),
    of_world(Law::access_lifetime, "no access after the memory was freed"),
    of_world(Law::access_place, "no access from where it is not allowed"),
    of_world(Law::order_race, "conflicting accesses are ordered"),
    of_world(Law::order_deadlock, "the world makes progress"),
    of_world(Law::order_collective, "all ranks issue the same collectives"),
    of_world(Law::graph_capture, "what was captured may be captured"),
    of_world(Law::graph_pointer, "replays use live pointers"),
    of_world(Law::graph_scalar, "replays use current scalars"),
    {Law::checkpoint_roundtrip,
     {"checkpoint.roundtrip", "load returns what was saved, on any world"}},
    {Law::checkpoint_atomic,
     {"checkpoint.atomic", "after a crash the old checkpoint or the new one is there, whole"}},
    {Law::checkpoint_integrity, {"checkpoint.integrity", "damage to a checkpoint is reported"}},
    {Law::error_clean,
     {"error.clean", "a failed operation reports why and says whether the state is usable"}},
    {Law::determinism_digest,
     {"determinism.digest", "the same scenario, seed and choices give the same digest"}},
    {Law::runs_worlds, {"runs.worlds", "the program comes to the same in each of several worlds"}},
    {Law::runs_repeated,
     {"runs.repeated",
      "the program comes to the same when it runs again, and saves the same files"}},
    {Law::runs_options, {"runs.options", "options that must not matter do not"}},
    {Law::runs_resumed,
     {"runs.resumed", "a run that is saved and loaded comes to what one comes to that is not"}},
    of_world(Law::error_unseen, "somebody looks at every error that a call returns"),
    of_world(Law::memory_leak, "what was allocated is freed"),
    of_world(Law::error_thread, "ranks alone call CUDA and NCCL, no threads of theirs"),
};
static_assert(std::size(law_table) == static_cast<std::size_t>(JudgedLaw::runs_resumed) + 1 +
                                          static_cast<std::size_t>(sim::Law::of_harness));

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
static_assert(std::ranges::all_of(std::span(law_table).last(warning_count), is_warning));

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
