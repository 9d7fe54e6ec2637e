#include "scenarios/seam/refusals.h"

#include <algorithm>
#include <map>
#include <set>

#include "scenarios/language/operations.h"
#include "scenarios/language/rounding_scale.h"
#include "scenarios/language/state_location.h"
#include "scenarios/language/verbs.h"
#include "scenarios/language/words.h"
#include "scenarios/seam/refusal_parts.h"

namespace adamant::scenarios {

namespace {

void refuse_scalars(Scenario const& scenario) {
  for (Param const& param : scenario.params)
    if (!param.is_tied() && param.shape.empty())
      throw Refused{{.id = "scalar_parameter",
                     .message = fmt::format("parameter `{}` has the shape [], which has no rows to "
                                            "shard; give it the shape [1]",
                                            param.name),
                     .line = param.line.value}};
}

/// Types that nothing could keep together, and recipes that a parameter cannot take.
void refuse_types(Scenario const& scenario) {
  if (auto const found = first_conflict(scenario)) {
    Param const& param = *found->param;
    bool const own = param.precision != PrecisionOverride{};
    refuse_at(own ? param.line : scenario.lines["precision"], found->conflict.detail,
              "parameter `{}`: {}", param.name, found->conflict.why);
  }
  for (Param const& param : scenario.params) {
    auto const recipe = param.precision.param;  // none of a tied one
    if (recipe && is_quantised(*recipe) && !takes(*recipe, param.shape))
      refuse_at(param.line, "recipe_shape",
                "parameter `{}` names the recipe {}, which needs a matrix whose sides its blocks "
                "divide: 128 for fp8_block, 32 for mxfp8, 16 for nvfp4",
                param.name, word_for(*recipe));
  }
}

/// The norm in force as far as it is known before anything runs: what `set` and loads do to it.
class NormInForce {
 public:
  NormInForce(Scenario const& scenario, Capabilities const& able)
      : in_process_(!able.isolated),
        first_(scenario.optimizer.clip),
        crashes_(std::ranges::any_of(
            scenario.faults, [](Fault const& fault) { return fault.then == Fault::Then::crash; })),
        norm_(first_) {}

  void follow(Action const& action) {
    if (auto const* set = std::get_if<Set>(&action); set != nullptr && set->change.clip)
      norm_ = *set->change.clip;
    if (auto const* save = std::get_if<Save>(&action)) follow_save(save->checkpoint);
    auto const* const load = std::get_if<Load>(&action);
    if (load != nullptr && load->anew) norm_ = first_;
    if (load != nullptr) norm_ = loaded(*load);
  }

  bool is_none() const { return norm_ && !*norm_; }
  bool is_number() const { return norm_ && *norm_; }

 private:
  using Known = std::optional<Clip>;

  // Where a crash strikes, the save before may be what is there.
  void follow_save(std::string const& name) {
    auto const [saved, is_new] = saved_.emplace(name, norm_);
    if (is_new || saved->second == norm_) return;
    saved->second = crashes_ ? Known() : norm_;
  }

  Known loaded(Load const& load) const {
    if (auto const saved = saved_.find(load.from); saved != saved_.end())
      return in_process_ || saved->second == kept() ? saved->second : Known();
    if (!in_process_) return Known();  // its format is its own
    return load.found ? Known(load.found->clip) : kept();
  }

  /// What stays in force where files do not carry it.
  Known kept() const { return !crashes_ || norm_ == Known(first_) ? norm_ : Known(); }

  bool in_process_;  // its files carry the norm
  Clip first_;
  bool crashes_;
  Known norm_;  // nothing: it is not known
  std::map<std::string, Known> saved_;
};

/// What holds between the operations of a program, found by walking it in order: these mistakes no
/// engine could execute, whatever it supports.
class Grammar {
 public:
  Grammar(Scenario const& scenario, Capabilities const& able)
      : scenario_(scenario),
        able_(able),
        outside_(loaded_from_outside(scenario.program)),
        optimizer_(scenario.optimizer),
        norm_(scenario, able),
        states_(scenario),
        setting_(scenario) {}

  /// Errors: Refused.
  void walk(std::vector<Operation> const& program, bool captured = false) {
    for (Operation const& operation : program) visit(operation, captured);
  }

 private:
  void visit(Operation const& operation, bool captured) {
    Action const& action = operation.action;
    norm_.follow(action);
    visit_states(action, operation.line);
    if (auto const* load = std::get_if<Load>(&action)) follow_load(*load);
    if (is<ClipNorm>(action) && norm_.is_none())
      refuse_at(operation.line, "clip_without_norm",
                "clip needs a norm in force, which is none here");
    if (is<Replay>(action)) visit_replay(operation.line);
    if (auto const* capture = std::get_if<Capture>(&action))
      visit_capture(*capture, operation.line, captured);
  }

  void visit_states(Action const& action, SourceLine line) {
    if (states_.with_cpu() && moves_states(action))
      refuse_at(line, "both_offloads",
                "offload and reload move states between steps, where a hybrid step keeps those of "
                "the CPU's part in host memory for good: one of the two");
    if (is<ReloadStates>(action) && !states_.away())
      refuse_at(line, "reload_resident", "reload finds all states resident: nothing was offloaded");
    states_.follow(action);
  }

  void follow_load(Load const& load) {
    foreign_ = foreign_ || outside_.contains(load.from);
    setting_ = with(std::move(setting_), load);
    if (load.keeps_addresses()) return;
    ended_ = ended_ || captured_;
    captured_ = false;
  }

  void visit_replay(SourceLine line) const {
    if (!captured_ && ended_)
      refuse_at(line, "replay_without_capture",
                "the load before it has ended the graph, as any does that says world, layout, "
                "precision, offload, order or anew; replay needs another capture behind that");
    if (!captured_) refuse_at(line, "replay_without_capture", "replay needs a capture before it");
    if (captured_backward_ && foreign_)
      refuse_at(line, "captured_gradients",
                "a load may have brought a loss scale that rounds, and gradients that round are "
                "judged between backward and step, which a replay does not show; supported with "
                "graphs: loads of what this program saves");
    if (captured_clips_ && norm_.is_none())
      refuse_at(line, "clip_without_norm",
                "what is replayed clips, and needs a norm in force, which is none here");
  }

  void visit_capture(Capture const& capture, SourceLine line, bool captured) {
    if (captured) refuse_at(line, "nested_capture", "a capture cannot be inside a capture");
    walk(capture.body, true);
    for (Operation const& operation : capture.body) visit_captured(operation);
    if (!optimizer_.capturable)
      refuse_at(line, "capture_not_capturable",
                "capture and replay need optimizer.capturable: true");
    captured_ = true;
    captured_backward_ = has<Backward, Train>(capture.body);
    captured_clips_ =
        has<ClipNorm>(capture.body) || (norm_.is_number() && has<Train>(capture.body));
    refuse_addresses(line);
    refuse_ranks(line);
  }

  void visit_captured(Operation const& operation) {
    bool const gradients = is<Backward, Train>(operation.action);
    if (!traits_of(operation.action).recorded)
      refuse_at(operation.line, "captured_operation",
                "the operation {} cannot be captured; supported in a capture: backward, clip, "
                "step, zero_grad, train, check",
                word_of(operation.action));
    if (gradients && scenario_.gradients != GradientClass::exact)
      refuse_at(operation.line, "captured_gradients",
                "gradients normal and wild are judged between backward and step, which a replay "
                "does not show; supported in a capture: exact");
    if (gradients && scales_round())
      refuse_at(operation.line, "captured_gradients",
                "gradients times this loss scale round, and are judged between backward and step, "
                "which a replay does not show; supported in a capture: powers of two, and "
                "dynamic, that the gradients' type has room for");
  }

  /// Of thousands of captured backwards each asks.
  bool scales_round() {
    if (!scales_round_) scales_round_ = any_scale_rounds(scenario_);
    return *scales_round_;
  }

  void refuse_addresses(SourceLine line) {
    if (able_.why_not_captured == nullptr) return;
    if (!addressed_.insert(setting_.precision).second) return;
    for (ParameterSpec const& spec : parameter_specs(setting_))
      if (std::string const why = able_.why_not_captured(spec, optimizer_); !why.empty())
        refuse_at(line, "captured_cast_gradient", "{}", why);
  }

  void refuse_ranks(SourceLine line) const {
    std::int64_t const ranks = setting_.world.rank_count();
    if (ranks > able_.captured_ranks_max)
      refuse_at(line, "captured_loopback",
                "a capture on {} ranks is asked for, which share a GPU by the loop-back and meet "
                "on the host in the middle of what would be captured; supported here: up to {}",
                ranks, able_.captured_ranks_max);
  }

  Scenario const& scenario_;
  Capabilities const& able_;
  std::set<std::string> outside_;
  Optimizer const& optimizer_;
  NormInForce norm_;
  StateLocation states_;
  Scenario setting_;  // what the loads so far have made of the scenario
  std::optional<bool> scales_round_;
  std::set<Precision> addressed_;  // recipes that may be captured
  bool foreign_ = false;           // was one of them of what this program has not saved
  bool captured_ = false;
  bool ended_ = false;  // a load has ended an earlier graph
  bool captured_backward_ = false;
  bool captured_clips_ = false;
};

/// Does it move states to the host, or begin to?
bool offloads(Action const& action) {
  auto const* const load = std::get_if<Load>(&action);
  return moves_states(action) || (load != nullptr && load->offload && load->offload->index() != 0);
}

/// With gradients in the type that those of one rank have: a loss scale may carry one of fp16
/// beyond the largest number, or not, by how many microbatches a rank has.
Scenario as_before_reduction(Scenario scenario, Capabilities const& able) {
  bool const as_parameters = able.gradient_type != GradientType::grad;
  if (as_parameters && scenario.precision.param == ParamType::fp16)
    scenario.precision.grad = GradType::fp16;
  return scenario;
}

void refuse_further_runs(Scenario const& scenario, Capabilities const& able) {
  Scenario const reduced = as_before_reduction(scenario, able);
  for (FurtherRun const& run : further_runs(scenario)) {
    refuse_further_run(reduced, run);
    refuse_where(refuse(run.scenario, in_further_runs(able)));
  }
}

void refuse_capturable_operations(Scenario const& scenario) {
  if (!scenario.optimizer.capturable) return;
  for (Operation const& operation : scenario.program)
    if (offloads(operation.action))
      refuse_at(operation.line, "capturable",
                "offload, reload and loads with an offload are supported without capturable");
}

}  // namespace

Refusal unsupported(std::string_view detail, std::string message, SourceLine line) {
  return {.id = "unsupported." + std::string(detail),
          .message = std::move(message),
          .line = line.value};
}

Capabilities in_further_runs(Capabilities able) {
  able.loads_anew = true;
  return able;
}

std::optional<Refusal> refuse(Scenario const& scenario, Capabilities const& capabilities) {
  return first_refusal([&] {
    refuse_extent(scenario);
    refuse_scalars(scenario);
    refuse_types(scenario);
    Grammar(scenario, capabilities).walk(scenario.program);
    refuse_settings(scenario, capabilities);
    refuse_operations(scenario, capabilities);
    refuse_capturable_operations(scenario);
    refuse_checkpoints(scenario, capabilities);
    refuse_where(refuse_gradient_use(scenario, capabilities));
    refuse_further_runs(scenario, capabilities);
  });
}

}  // namespace adamant::scenarios
