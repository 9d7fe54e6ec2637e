#include "scenarios/seam/refusal_parts.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "scenarios/language/registry.h"
#include "scenarios/language/words.h"

namespace adamant::scenarios {

namespace {

using MaybeRefusal = std::optional<Refusal>;

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

  MaybeRefusal walk() {
    for (Operation const& operation : scenario_.program)
      if (auto refusal = visit(operation.action, operation.line)) return refusal;
    return std::nullopt;
  }

 private:
  /// What has become of the gradients that are there.
  enum class Used { not_yet, clipped, stepped };

  MaybeRefusal visit(Action const& action, SourceLine line) {
    if (auto const* backward = std::get_if<Backward>(&action)) return visit(*backward, line);
    if (std::holds_alternative<ClipNorm>(action)) return visit_use(Used::clipped, line);
    if (std::holds_alternative<Step>(action)) return visit_step(line);
    if (std::holds_alternative<Train>(action)) return visit_train(line);
    if (auto const* zero = std::get_if<ZeroGrad>(&action))
      return zero_grad(zero->set_to_none, line);
    if (std::holds_alternative<Load>(action)) return visit_load(line);
    if (auto const* set = std::get_if<Set>(&action)) return visit(*set, line);
    return std::nullopt;
  }

  /// Every further iteration finds what the first one leaves: nothing.
  MaybeRefusal visit_train(SourceLine line) {
    if (auto refusal = visit(Backward{}, line)) return refusal;
    if (auto refusal = visit_step(line)) return refusal;
    return zero_grad(true, line);
  }

  MaybeRefusal visit(Backward const& backward, SourceLine line) {
    if (used_ != Used::not_yet && any_gradient()) return reused("adds to", line);
    std::vector<bool> has(has_gradient_.size(), true);
    if (!backward.without.empty())
      for (int const parameter :
           registry_.without_gradient(places_of(backward.without, scenario_.params)))
        has[static_cast<std::size_t>(parameter)] =
            has_gradient_[static_cast<std::size_t>(parameter)];
    has_gradient_ = std::move(has);
    return std::nullopt;
  }

  MaybeRefusal visit_step(SourceLine line) {
    bool const counts_otherwise = !offers(able_.step_counters, scenario_.optimizer.step_counter) &&
                                  std::ranges::count(has_gradient_, false) > 0;
    if (counts_otherwise)
      return unsupported("step_counter",
                         "a step finds parameters without gradient, where a step counter of " +
                             std::string(word_for(scenario_.optimizer.step_counter)) +
                             " counts otherwise than this engine's; supported: step_counter: " +
                             listed(able_.step_counters),
                         line);
    return visit_use(Used::stepped, line);
  }

  MaybeRefusal visit_use(Used use, SourceLine line) {
    if (used_ == Used::stepped && any_gradient()) return reused("uses", line);
    bool const unscales = able_.unscales_in_place && may_scale_;
    if (unscales && any_gradient()) used_ = use;
    return std::nullopt;
  }

  static MaybeRefusal reused(std::string const& how, SourceLine line) {
    return unsupported("reused_gradients",
                       "the operation " + how +
                           " gradients that this engine has divided by the loss scale where they "
                           "are; supported: zero_grad before that, or loss_scale: none",
                       line);
  }

  /// A scaler that has divided gradients for a clip expects their step next: what it is given in
  /// their place it takes for divided as well.
  MaybeRefusal zero_grad(bool to_none, SourceLine line) {
    if (used_ == Used::clipped)
      return unsupported("reused_gradients",
                         "gradients go that this engine has divided by the loss scale for a clip; "
                         "supported: a step before that, or loss_scale: none",
                         line);
    used_ = Used::not_yet;
    if (to_none) has_gradient_.assign(has_gradient_.size(), false);
    return std::nullopt;
  }

  /// The scale may be the one of the save or, where the format has none, of the beginning.
  MaybeRefusal visit_load(SourceLine line) {
    may_scale_ = ever_scaled_;
    return zero_grad(true, line);
  }

  /// A new scaler knows neither what the one before has scaled nor what it has divided.
  MaybeRefusal visit(Set const& set, SourceLine line) {
    if (!set.change.loss_scale) return std::nullopt;
    bool const bears_scale = able_.unscales_in_place && any_gradient();
    if (bears_scale)
      return unsupported("reused_gradients",
                         "another loss scale is set while there are gradients of the one before; "
                         "supported: zero_grad before that",
                         line);
    may_scale_ = set.change.loss_scale->kind != LossScale::Kind::none;
    ever_scaled_ = ever_scaled_ || may_scale_;
    if (used_ == Used::clipped) used_ = Used::stepped;
    return std::nullopt;
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
  for (Operation const& operation : scenario.program)
    if (auto const* set = std::get_if<Set>(&operation.action); set && set->change.loss_scale)
      if (!offers(kinds, set->change.loss_scale->kind))
        kinds.push_back(set->change.loss_scale->kind);
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
MaybeRefusal refuse_scales(Scenario const& scenario, Capabilities const& able) {
  auto all = able.precisions;
  if (able.load_precisions)
    all.insert(all.end(), able.load_precisions->begin(), able.load_precisions->end());
  for (auto const& [recipe, line] : recipes_of(scenario))
    for (LossScale::Kind const scale : scales_of(scenario))
      if (!accepted(all, recipe, scale))
        return unsupported("loss_scale",
                           "loss_scale: " + std::string(word_for(scale)) +
                               " is asked for with types that do not go with it; supported: other "
                               "types, or another scale",
                           line);
  return std::nullopt;
}

bool restricts_scales(PrecisionOffer const& offer) {
  return !offer.loss_scale.empty();
}

}  // namespace

MaybeRefusal refuse_gradient_use(Scenario const& scenario, Capabilities const& capabilities) {
  auto const& precisions = capabilities.precisions;
  if (std::any_of(precisions.begin(), precisions.end(), restricts_scales))
    if (auto refusal = refuse_scales(scenario, capabilities)) return refusal;
  bool const counts = offers(capabilities.step_counters, scenario.optimizer.step_counter);
  if (counts && !capabilities.unscales_in_place) return std::nullopt;
  return GradientWalk(scenario, capabilities).walk();
}

}  // namespace adamant::scenarios
