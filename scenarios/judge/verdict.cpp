#include "scenarios/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "scenarios/judge/oracle_view.h"
#include "scenarios/judge/registration.h"
#include "scenarios/language/operations.h"

namespace adamant::scenarios {

namespace {

std::int64_t total_numel(std::vector<ParameterSpec> const& parameters) {
  std::int64_t total = 0;
  for (ParameterSpec const& spec : parameters) total += spec.numel();
  return total;
}

/// Calls `work(i)` for every i in [0, count) once, on any thread and in any order, and returns when
/// all are done. REQUIRES: `work` throws nothing.
void on_all_cores(std::size_t count, std::function<void(std::size_t)> const& work) {
  std::atomic<std::size_t> next = 0;
  auto const take = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::size_t const cores = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  std::vector<std::jthread> helpers(std::min(cores, std::max<std::size_t>(count, 1)) - 1);
  for (std::jthread& helper : helpers) helper = std::jthread(take);
  take();
}

}  // namespace

Verdict::Verdict(Scenario const& scenario, Program const& program,
                 std::vector<ParameterSpec> const& parameters, std::uint64_t seed)
    : scenario_(scenario),
      program_(program),
      kind_(scenario.gradients),
      offload_(scenario.offload),
      offloads_when_asked_(has<OffloadStates>(scenario.program)),
      total_numel_(total_numel(parameters)),
      small_(total_numel_ <= small_model_numel),
      reference_(scenario, parameters, seed),
      values_(reference_, findings_),
      memory_(scenario, parameters, findings_),
      pointers_(parameters, static_cast<int>(scenario.world.rank_count()),
                leaving(scenario.offload), residence_of(scenario), findings_) {
  choose_formulas(arithmetic_);
}

void Verdict::choose_formulas(Arithmetic arithmetic) {
  if (formulas_ && arithmetic == arithmetic_) return;
  arithmetic_ = arithmetic;
  formulas_ = make_formulas(
      arithmetic, {.gradients = kind_,
                   .reference = reference_,
                   .values = values_,
                   .findings = findings_,
                   .follow_each = [this](WorldView const& world, std::span<TensorKind const> kinds,
                                         std::function<void(int)> const& follow_one) {
                     follow_each(world, kinds, follow_one);
                   }});
  values_.judge_by(*formulas_);
}

// Explicit offloads move all where the setting names none.
std::optional<StateOffloadConfig> Verdict::leaving(Offload const& offload) const {
  if (auto const configured = state_offload_config(offload)) return configured;
  return offloads_when_asked_ ? std::optional(StateOffloadConfig{}) : std::nullopt;
}

bool Verdict::started(WorldView const& world) {
  memory_.note_peaks(world);
  values_.begin_world(layout_of(scenario_, parameter_specs(scenario_)));
  choose_formulas(world.arithmetic());
  formulas_->started();
  values_.compare_flags(world);
  values_.compare_scaling(world);
  compare_all(world);
  if (world.shown().memory) memory_.compare(world);
  if (world.shown().addresses) pointers_.compare(world, nullptr);
  return !findings_.any() || small_;
}

bool Verdict::after(Primitive const& operation, WorldView const& world) {
  memory_.note_peaks(world);
  if (findings_.any()) return --patience_ > 0;
  findings_.at_operation(operation.entry);
  note_before(operation);
  follow(operation, world);
  values_.compare_flags(world);
  values_.compare_groups(world);
  values_.compare_scaling(world, is<Step>(operation.what));
  bool const looks = is<resolved::Load>(operation.what) || is<Check>(operation.what);
  if (small_ || looks) compare_all(world);
  // To gather where ranks are known to differ may never end.
  if (looks && !findings_.any()) compare_whole(world);
  if (findings_.any()) guess_ = guess(operation, world);
  if (findings_.any() && guess_.empty() && has_other_rule(operation, world)) {
    findings_.keep_first_value();
    guess_ =
        "no moment is what any gradient would leave at the first step: the engine's optimizer is "
        "not Adam, or has other betas";
  }
  values_.judge_as(Law::values_bitwise);
  compare_resources(operation, world);
  return !findings_.any() || small_;
}

void Verdict::compare_resources(Primitive const& operation, WorldView const& world) {
  if (world.shown().memory) {
    memory_.follow(operation);
    if (is<resolved::Load>(operation.what) && reference_.model().scales()) memory_.use_scaling();
    memory_.compare(world);
  }
  if (world.shown().addresses) pointers_.compare(world, &operation);
}

void Verdict::finished(WorldView const& world) {
  if (findings_.any()) return;
  findings_.at_operation(-1);
  if (!small_) compare_all(world);
  compare_whole(world);
}

void Verdict::ended(Leftovers const& left) {
  if (findings_.any()) return;
  findings_.at_operation(-1);
  memory_.expect_nothing(left);
}

void Verdict::follow(Primitive const& operation, WorldView const& world) {
  match(
      operation.what, [&](resolved::Backward const& each) { follow_backward(each, world); },
      [&](ClipNorm const&) { formulas_->clip(world); },
      [&](Step const&) { formulas_->step(world); },
      [&](ZeroGrad const& each) { follow_zero_grad(each.set_to_none, world); },
      [&](resolved::Set const& set) { reference_.set(set); },
      [&](Save const& save) { follow_save(save.checkpoint, world); },
      [&](resolved::Load const& load) { follow_load(load, world); },
      [&](resolved::Replay const& replay) { follow_replay(replay, world); },
      [](LeavesNumbers auto const&) {});
}

// In the order of the capture, and compared when all of it is over: what lies between shows in
// what it led to. Of several backwards the last one's gathered parameters are still known.
void Verdict::follow_replay(resolved::Replay const& replay, WorldView const& world) {
  std::int64_t const last = replay.index + backward_count(replay.body) - 1;
  for (Recorded const& operation : replayed(replay)) {
    auto const* const backward = std::get_if<resolved::Backward>(&operation);
    if (backward != nullptr && backward->index == last) compare_gathered(world, last);
    reference_.follow(operation, [this](auto const& visit) { for_each_parameter(visit); });
    if (on_replayed_step_ && is<Step>(operation))
      on_replayed_step_(OracleView(reference_.model(), values_.layout()));
  }
  if (!small_) compare_all(world);
}

void Verdict::follow_backward(resolved::Backward const& backward, WorldView const& world) {
  if (world.shown().memory) compare_gathered(world, backward.index);
  reference_.begin_backward(backward);
  formulas_->backward(world, backward);
}

void Verdict::compare_gathered(WorldView const& world, std::int64_t backward) {
  std::vector<std::uint64_t> expected(static_cast<std::size_t>(parameter_count()));
  for_each_parameter(
      [&](int p) { expected[static_cast<std::size_t>(p)] = reference_.fingerprint(p, backward); });
  for (int p = 0; p < parameter_count(); ++p)
    values_.compare_gathered(world, p, expected[static_cast<std::size_t>(p)]);
}

void Verdict::follow_zero_grad(bool set_to_none, WorldView const& world) {
  formulas_->zero_grad(world, set_to_none);
  follow_each(world, reduced_kinds, [](int) {});
}

bool Verdict::restarted(Primitive const& operation, WorldView const& world) {
  memory_.note_peaks(world);
  if (findings_.any()) return false;
  unloaded_ = true;
  choose_formulas(world.arithmetic());
  auto const& load = std::get<resolved::Load>(operation.what);
  Scenario const setting = load.setting == 0 ? scenario_ : program_.setting(load.setting);
  std::vector<ParameterSpec> const parameters = parameter_specs(setting);
  reference_.begin_world(setting, parameters, load.clip);
  values_.begin_world(layout_of(setting, parameters));
  findings_.at_operation(operation.entry);
  Offload const& offload = load.offload != nullptr ? *load.offload : offload_;
  if (world.shown().memory) {
    memory_.begin_world(setting, parameters, load.clip);
    memory_.compare(world);
  }
  if (world.shown().addresses) {
    pointers_.begin_world(world.rank_count(), parameters, leaving(offload));
    pointers_.compare(world, nullptr);
  }
  return !findings_.any();
}

void Verdict::crashed(Primitive const& save, bool returned) {
  std::string const& checkpoint = std::get<Save>(save.what).checkpoint;
  bool const replaces = layouts_.erase(checkpoint) > 0;
  if (returned || !replaces) layouts_.emplace(checkpoint, values_.layout());
  if (returned)
    reference_.save(checkpoint, true);
  else
    reference_.save_maybe(checkpoint);
}

void Verdict::damaged(Primitive const&, DamagedFiles const& files) {
  damage_ = files;
}

// Engines that still have a state have the one from before; in a new world that is nothing.
void Verdict::refused(Primitive const& operation, EngineFailure const& why,
                      WorldView const* world) {
  auto const& load = std::get<resolved::Load>(operation.what);
  findings_.at_operation(operation.entry);
  if (world != nullptr && !unloaded_) {
    values_.judge_as(Law::error_clean);
    values_.compare_flags(*world);
    values_.compare_groups(*world);
    values_.compare_scaling(*world);
    compare_all(*world);
  }
  bool const own = reference_.checkpoint(load.checkpoint).must_exist;
  if (own && !damage_.empty()) {
    if (why.reason != "damaged_checkpoint")
      findings_.add({.law = Law::checkpoint_integrity,
                     .breach = Breach::damage_misjudged,
                     .rank = why.rank,
                     .subject = damage_,
                     .reason = why.reason,
                     .text = why.message,
                     .thrown = why.thrown});
  } else if (own && !(why.reason == "incompatible_checkpoint" && may_be_refused(load))) {
    findings_.add({.law = law_of_load(load),
                   .breach = Breach::not_loaded,
                   .rank = why.rank,
                   .reason = why.reason,
                   .text = why.message,
                   .thrown = why.thrown});
  }
}

// Of a large model, a parameter is compared right after it was followed, while it is in cache; what
// disagrees is looked at once more, in order. Of a small one everything is compared anyway.
void Verdict::follow_each(WorldView const& world, std::span<TensorKind const> kinds,
                          std::function<void(int)> const& follow_one) {
  std::vector<char> agree(static_cast<std::size_t>(parameter_count()), 1);
  for_each_parameter([&](int p) {
    follow_one(p);
    if (small_) return;
    for (TensorKind const kind : kinds)
      if (!values_.agrees(world, p, kind)) agree[static_cast<std::size_t>(p)] = 0;
  });
  for (int p = 0; p < parameter_count(); ++p)
    if (agree[static_cast<std::size_t>(p)] == 0)
      for (TensorKind const kind : kinds) values_.compare(world, p, kind);
}

void Verdict::compare_all(WorldView const& world) {
  if (!small_) return follow_each(world, all_tensor_kinds, [](int) {});
  for (int p = 0; p < parameter_count(); ++p)
    for (TensorKind const kind : all_tensor_kinds) values_.compare(world, p, kind);
}

// Whole tensors cost the world a gather each, so they are looked at where a program says so.
void Verdict::compare_whole(WorldView const& world) {
  for (int p = 0; p < parameter_count(); ++p)
    for (TensorKind const kind : stepped_kinds) values_.compare_whole(world, p, kind);
}

void Verdict::for_each_parameter(std::function<void(int)> const& visit) {
  auto const count = static_cast<std::size_t>(parameter_count());
  if (!small_) return on_all_cores(count, [&](std::size_t p) { visit(static_cast<int>(p)); });
  for (std::size_t p = 0; p < count; ++p) visit(static_cast<int>(p));
}

std::vector<std::string> Verdict::notes() const {
  std::vector<std::string> notes;
  auto const& [reduced, stepped] = findings_.used();
  bool const all_lie_within = std::ranges::none_of(violations(), [](Violation const& violation) {
    return violation.law == Law::values_bitwise || violation.law == Law::values_interval;
  });
  if (all_lie_within && (kind_ != GradientClass::exact || reduced > 0))
    notes.push_back(
        fmt::format("reduced gradients lie within the bounds of rounding: at most {:.3g}% of the "
                    "way to their ends",
                    100 * reduced));
  if (all_lie_within && stepped > 0)
    notes.push_back(
        fmt::format("moments and weights lie within the bounds of any order of operations: at most "
                    "{:.3g}% of the way to their ends",
                    100 * stepped));
  if (!guess_.empty()) notes.push_back(guess_);
  if (!not_carried_.empty())
    notes.push_back(
        fmt::format("the checkpoint's format does not carry {}: after a load the engine "
                    "is believed what it has",
                    fmt::join(not_carried_, ", ")));
  for (std::string const& checkpoint : not_read_)
    notes.push_back(
        fmt::format("the format of {} is one that the engine alone reads: after the load it is "
                    "believed what it has",
                    checkpoint));
  return notes;
}

}  // namespace adamant::scenarios
