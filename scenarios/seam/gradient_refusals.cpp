#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/operations.h"
#include "scenarios/language/registry.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

/// Walks a program as it would be executed without a crash; after one, what is skipped until the
/// next load is judged as well, which refuses more than it has to.
class GradientWalk {
 public:
  GradientWalk(Scenario const& scenario, Capabilities const& able)
      : scenario_(scenario),
        able_(able),
        may_scale_(scenario.optimizer.loss_scale.kind != LossScale::Kind::none),
        ever_scaled_(may_scale_),
        registry_(registry_of(scenario.params)),
        has_gradient_(registry_.names.size()) {}

  /// Errors: Refused.
  void walk() {
    for (Operation const& operation : scenario_.program) visit(operation.action, operation.line);
  }

 private:
  /// What has become of the gradients that are there.
  enum class Used { not_yet, clipped, stepped };

  void visit(Action const& action, SourceLine line) {
    if (auto const* backward = std::get_if<Backward>(&action)) visit(*backward, line);
    if (is<ClipNorm>(action)) visit_use(Used::clipped, line);
    if (is<Step>(action)) visit_step(line);
    if (is<Train>(action)) visit_train(line);
    if (auto const* zero = std::get_if<ZeroGrad>(&action)) zero_grad(zero->set_to_none, line);
    if (is<Load>(action)) visit_load(line);
    if (auto const* set = std::get_if<Set>(&action)) visit(*set, line);
  }

  /// Every further iteration finds what the first one leaves: nothing.
  void visit_train(SourceLine line) {
    visit(Backward{}, line);
    visit_step(line);
    zero_grad(true, line);
  }

  void visit(Backward const& backward, SourceLine line) {
    if (used_ != Used::not_yet && any_gradient()) refuse_reuse("adds to", line);
    std::vector<bool> has(has_gradient_.size(), true);
    if (!backward.without.empty())
      for (int const parameter :
           registry_.without_gradient(places_of(backward.without, scenario_.params)))
        has[static_cast<std::size_t>(parameter)] =
            has_gradient_[static_cast<std::size_t>(parameter)];
    has_gradient_ = std::move(has);
  }

  void visit_step(SourceLine line) {
    StepCounter const counter = scenario_.optimizer.step_counter;
    if (!offers(able_.step_counters, counter) && std::ranges::count(has_gradient_, false) > 0)
      refuse_at(line, "step_counter",
                "a step finds parameters without gradient, where a step counter of {} counts "
                "otherwise than this engine's; supported: step_counter: {}",
                word_for(counter), listed(able_.step_counters));
    visit_use(Used::stepped, line);
  }

  void visit_use(Used use, SourceLine line) {
    if (used_ == Used::stepped && any_gradient()) refuse_reuse("uses", line);
    bool const unscales = able_.unscales_in_place && may_scale_;
    if (unscales && any_gradient()) used_ = use;
  }

  [[noreturn]] static void refuse_reuse(std::string_view how, SourceLine line) {
    refuse_at(
        line, "reused_gradients",
        "the operation {} gradients that this engine has divided by the loss scale where they "
        "are; supported: zero_grad before that, or loss_scale: none",
        how);
  }

  /// A scaler that has divided gradients for a clip expects their step next: what it is given in
  /// their place it takes for divided as well.
  void zero_grad(bool to_none, SourceLine line) {
    if (used_ == Used::clipped)
      refuse_at(
          line, "reused_gradients",
          "gradients go that this engine has divided by the loss scale for a clip; supported: "
          "a step before that, or loss_scale: none");
    used_ = Used::not_yet;
    if (to_none) has_gradient_.assign(has_gradient_.size(), false);
  }

  /// The scale may be the one of the save or, where the format has none, of the beginning.
  void visit_load(SourceLine line) {
    may_scale_ = ever_scaled_;
    zero_grad(true, line);
  }

  /// A new scaler knows neither what the one before has scaled nor what it has divided.
  void visit(Set const& set, SourceLine line) {
    if (!set.change.loss_scale) return;
    if (able_.unscales_in_place && any_gradient())
      refuse_at(line, "reused_gradients",
                "another loss scale is set while there are gradients of the one before; supported: "
                "zero_grad before that");
    may_scale_ = set.change.loss_scale->kind != LossScale::Kind::none;
    ever_scaled_ = ever_scaled_ || may_scale_;
    if (used_ == Used::clipped) used_ = Used::stepped;
  }

  bool any_gradient() const { return std::ranges::count(has_gradient_, true) > 0; }

  Scenario const& scenario_;
  Capabilities const& able_;
  bool may_scale_;    // is there a loss scale, as far as is known?
  bool ever_scaled_;  // so far
  Used used_ = Used::not_yet;
  Registry registry_;
  std::vector<bool> has_gradient_;  // by number of the parameter
};

/// Kinds of loss scale that a program comes to. A load may bring back any of them.
std::vector<LossScale::Kind> scales_of(Scenario const& scenario) {
  std::vector<LossScale::Kind> kinds{scenario.optimizer.loss_scale.kind};
  for (Set const* set : all<Set>(scenario.program))
    if (auto const& scale = set->change.loss_scale; scale && !offers(kinds, scale->kind))
      kinds.push_back(scale->kind);
  return kinds;
}

/// Recipes that a program comes to, each with the line that says so.
std::vector<std::pair<Precision, SourceLine>> recipes_of(Scenario const& scenario) {
  std::vector<std::pair<Precision, SourceLine>> all{
      {scenario.precision, scenario.lines["precision"]}};
  for (Operation const& operation : scenario.program)
    if (auto const* load = std::get_if<Load>(&operation.action))
      if (auto const now = with(all.back().first, load->types()); now != all.back().first)
        all.emplace_back(now, operation.line);
  return all;
}

/// Types whose gradients a scaler does not divide. REQUIRES: one recipe for all parameters.
void refuse_undivided(Scenario const& scenario, Capabilities const& able) {
  auto all = able.precisions;
  if (able.load_precisions)
    all.insert(all.end(), able.load_precisions->begin(), able.load_precisions->end());
  for (auto const& [recipe, line] : recipes_of(scenario))
    for (LossScale::Kind const scale : scales_of(scenario))
      if (!accepted(all, recipe, scale))
        refuse_at(line, "loss_scale",
                  "loss_scale: {} is asked for with types that do not go with it; supported: other "
                  "types, or another scale",
                  word_for(scale));
}

bool restricts_scales(PrecisionOffer const& offer) {
  return !offer.loss_scale.empty();
}

}  // namespace

std::optional<Refusal> refuse_gradient_use(Scenario const& scenario,
                                           Capabilities const& capabilities) {
  return first_refusal([&] {
    if (std::ranges::any_of(capabilities.precisions, restricts_scales))
      refuse_undivided(scenario, capabilities);
    bool const counts = offers(capabilities.step_counters, scenario.optimizer.step_counter);
    if (!counts || capabilities.unscales_in_place) GradientWalk(scenario, capabilities).walk();
  });
}

}  // namespace adamant::scenarios
