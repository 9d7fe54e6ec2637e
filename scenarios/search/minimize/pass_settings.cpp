// Settings, options and faults back at their defaults, or at the usual values where they matter.
#include <cstddef>
#include <iterator>

#include "scenarios/language/table.h"
#include "scenarios/search/minimize/passes.h"
#include "scenarios/search/minimize/usual.h"

namespace adamant::scenarios::passes_of {

namespace {

/// Every key of a part of the scenario, each back at its default.
template <typename T, typename PartOf>
void reset_keys(Candidates& candidates, PartOf const& part_of) {
  for_each_key<T>([&](auto const& row) {
    if (!row.about.required) candidates.offer([&](Scenario& s) { reset(part_of(s), row); });
  });
}

/// Words before the one that stands there, the default first.
void earlier_words(Candidates& candidates) {
  for_each_key<Scenario>([&](auto const& row) {
    using Value = typename KindOf<std::remove_cvref_t<decltype(row)>>::Value;
    if constexpr (std::is_enum_v<Value>) {
      for (std::size_t word = 0; word + 1 < words_of<Value>.size(); ++word)
        candidates.offer([&](Scenario& s) { put(s, row.place, static_cast<Value>(word)); });
    }
  });
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
  earlier_words(candidates);
  reset_keys<World>(candidates, [](Scenario& s) -> World& { return s.world; });
  candidates.offer([](Scenario& s) { s.world = {.shard = s.world.shard}; });
  candidates.offer([](Scenario& s) { s.world = {.shard = s.world.rank_count()}; });
  AdamConfig const adam = scenario.optimizer.adam;
  candidates.offer([&](Scenario& s) { s.optimizer.adam = {.mode = adam.mode}; });
  reset_keys<Optimizer>(candidates, [](Scenario& s) -> Optimizer& { return s.optimizer; });
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
  reset_keys<HybridOffload>(
      candidates, [](Scenario& s) -> HybridOffload& { return std::get<HybridOffload>(s.offload); });
  for (double const fraction : usual_fractions)
    candidates.offer([&](Scenario& s) { std::get<HybridOffload>(s.offload).fraction = fraction; });
}

void simplify_faults(Scenario const& scenario, Candidates& candidates) {
  candidates.offer([](Scenario& s) { s.faults.clear(); });
  for (std::size_t f = 0; f < scenario.faults.size(); ++f) {
    candidates.offer(
        [&](Scenario& s) { s.faults.erase(s.faults.begin() + static_cast<std::ptrdiff_t>(f)); });
    for_each_key<Fault>([&](auto const& row) {
      if constexpr (may_be_absent<Fault, std::remove_cvref_t<decltype(row)>>) {
        auto const given = value_at(scenario.faults[f], row.place);
        if (!given) return;
        candidates.offer([&](Scenario& s) { reset(s.faults[f], row); });
        std::int64_t const least = row.kind.range.least;
        for (std::int64_t const smaller : {least, least + 1, *given / 2, *given - 1})
          if (smaller >= least)
            candidates.offer(
                [&](Scenario& s) { put(s.faults[f], row.place, std::optional(smaller)); });
      }
    });
  }
}

}  // namespace adamant::scenarios::passes_of
