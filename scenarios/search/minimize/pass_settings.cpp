// Settings, options and faults back at their defaults, or at the usual values where they matter.
#include <cstddef>
#include <iterator>

#include "scenarios/search/minimize/passes.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios::passes_of {

namespace {

template <typename Change>
void offer_adam(AdamConfig const& adam, Candidates& candidates, Change const& change) {
  AdamOverride settings = difference(adam);
  change(settings);
  candidates.offer(
      [&](Scenario& s) { s.optimizer.adam = with(AdamConfig{.mode = adam.mode}, settings); });
}

/// Calls `change` for each place of a fault that can be given or left out.
template <typename Change>
void for_each_place(Change const& change) {
  for (auto const place :
       {&Fault::rank, &Fault::nth, &Fault::after_bytes, &Fault::file, &Fault::byte})
    change(place);
}

/// The engine's own choices, back at its defaults together and one by one.
void reset_options(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.engine.options.clear(); });
  for (std::ptrdiff_t i = 0; i < std::ssize(scenario.engine.options); ++i)
    candidates.offer([&](Scenario& s) { s.engine.options.erase(s.engine.options.begin() + i); });
}

}  // namespace

void reset_settings(Scenario const& scenario, Candidates& candidates) {
  reset_options(scenario, candidates);
  candidates.offer([](Scenario& s) {
    s.optimizer = {};
    s.layout = Layout::fsdp2;
    s.gradients = GradientClass::exact;
    s.microbatches.reset();
  });
  candidates.offer([](Scenario& s) { s.optimizer = {}; });
  candidates.offer([](Scenario& s) { s.layout = Layout::fsdp2; });
  candidates.offer([](Scenario& s) { s.gradients = GradientClass::exact; });
  candidates.offer([](Scenario& s) { s.gradients = GradientClass::normal; });
  candidates.offer([](Scenario& s) { s.world.replicate = 1; });
  AdamConfig const adam = scenario.optimizer.adam;
  candidates.offer([&](Scenario& s) { s.optimizer.adam = {.mode = adam.mode}; });
  candidates.offer([](Scenario& s) { s.optimizer.adam.mode = AdamMode::adamw; });
  offer_adam(adam, candidates, [](AdamOverride& settings) { settings.lr.reset(); });
  offer_adam(adam, candidates, [](AdamOverride& settings) { settings.betas.reset(); });
  offer_adam(adam, candidates, [](AdamOverride& settings) { settings.eps.reset(); });
  offer_adam(adam, candidates, [](AdamOverride& settings) { settings.weight_decay.reset(); });
  offer_adam(adam, candidates, [](AdamOverride& settings) { settings.bias_correction.reset(); });
  candidates.offer([](Scenario& s) { s.optimizer.decoupled_grad = true; });
  candidates.offer([](Scenario& s) { s.optimizer.keep_cast_grad = false; });
  candidates.offer([](Scenario& s) { s.optimizer.step_counter = StepCounter::group; });
  candidates.offer([](Scenario& s) { s.optimizer.capturable = false; });
  candidates.offer([](Scenario& s) { s.optimizer.clip.reset(); });
  candidates.offer([](Scenario& s) { s.optimizer.loss_scale = {}; });
}

void usual_settings(Scenario const&, Candidates& candidates) {
  for (AdamOverride const& usual : usual_overrides()) {
    candidates.offer([&](Scenario& s) {
      s.optimizer.adam = with(AdamConfig{.mode = s.optimizer.adam.mode}, usual);
    });
  }
  for (Clip const& clip : usual_clips)
    candidates.offer([&](Scenario& s) { s.optimizer.clip = clip; });
  for (LossScale const& scale : usual_loss_scales)
    candidates.offer([&](Scenario& s) { s.optimizer.loss_scale = scale; });
}

void reset_offload(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.offload = {}; });
  if (std::holds_alternative<OffloadedStates>(scenario.offload))
    candidates.offer([](Scenario& s) { s.offload = OffloadedStates{}; });
  auto const* const hybrid = std::get_if<HybridOffload>(&scenario.offload);
  if (hybrid == nullptr) return;
  candidates.offer([](Scenario& s) { s.offload = HybridOffload{}; });
  for (auto const member :
       {&HybridOffload::overlap, &HybridOffload::pin_grads, &HybridOffload::pin_params})
    candidates.offer([&](Scenario& s) { std::get<HybridOffload>(s.offload).*member = true; });
  for (double const fraction : usual_fractions)
    candidates.offer([&](Scenario& s) { std::get<HybridOffload>(s.offload).fraction = fraction; });
}

void simplify_faults(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.faults.clear(); });
  for (std::size_t f = 0; f < scenario.faults.size(); ++f) {
    candidates.offer(
        [&](Scenario& s) { s.faults.erase(s.faults.begin() + static_cast<std::ptrdiff_t>(f)); });
    for_each_place([&](auto const place) {
      auto const& given = scenario.faults[f].*place;
      if (!given) return;
      candidates.offer([&](Scenario& s) { (s.faults[f].*place).reset(); });
      std::int64_t const least = place == &Fault::nth ? 1 : 0;
      for (std::int64_t const smaller : {least, least + 1, *given / 2, *given - 1})
        if (smaller >= least) candidates.offer([&](Scenario& s) { s.faults[f].*place = smaller; });
    });
  }
}

}  // namespace adamant::scenarios::passes_of
