#include "scenarios/peers/doctor/offered.h"

#include <fmt/format.h>

#include "scenarios/language/words.h"
#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {

namespace {

/// Rows: more than 4 ranks cut evenly, fewer than 3 ranks, one, and a prime number of them.
constexpr char const* params =
    "params:\n"
    "  - {name: h.0.weight, shape: [12, 3]}\n"
    "  - {name: h.0.bias, shape: [2]}\n"
    "  - {name: h.1.weight, shape: [1, 2, 2], group: other}\n"
    "  - {name: h.1.bias, shape: [7], group: other}\n";

/// What an optimizer has unless a plan says otherwise.
std::string optimizer_of(ProbePlan const& plan, Capabilities const& offered) {
  std::string text;
  auto const add = [&](std::string_view key, std::string_view word) {
    if (plan.optimizer.find(fmt::format("{}:", key)) == std::string::npos)
      text += fmt::format("{}: {}, ", key, word);
  };
  add("mode", word_for(offered.optimizers.front()));
  add("step_counter", word_for(offered.step_counters.front()));
  add("bias_correction", offered.bias_correction.front() ? "true" : "false");
  return text + plan.optimizer;
}

}  // namespace

char const* const params_of_recipes =
    "params:\n"
    "  - {name: h.0.weight, shape: [256, 128]}\n"
    "  - {name: h.0.bias, shape: [5], group: other}\n";

Precision first_of(PrecisionOffer const& offer) {
  Precision first{.param = offer.param.front(),
                  .grad = offer.grad.front(),
                  .main = offer.main.front(),
                  .exp_avg = offer.exp_avg.front(),
                  .exp_avg_sq = offer.exp_avg_sq.front()};
  if (!offer.state_scale.empty()) first.state_scale = offer.state_scale.front();
  return first;
}

std::string first_precision(PrecisionOffer const& offer) {
  Precision const first = first_of(offer);
  std::string text = fmt::format("param: {}, grad: {}, main: {}, exp_avg: {}, exp_avg_sq: {}",
                                 word_for(first.param), word_for(first.grad), word_for(first.main),
                                 word_for(first.exp_avg), word_for(first.exp_avg_sq));
  if (has_scalable_state(first))
    text += fmt::format(", state_scale: {}", word_for(first.state_scale));
  return "{" + text + "}";
}

Scenario scenario_of(ProbePlan const& plan, Capabilities const& offered,
                     std::string const& engine) {
  std::string text = fmt::format(
      "adamant: 1\nname: a probe\nseed: 7\n{}\nlayout: {}\n{}"
      "groups: {{other: {{weight_decay: 0.5}}}}\nprecision: {}\noptimizer: {{{}}}\n"
      "gradients: {}\nprogram: {}\n{}",
      plan.worlds.empty()
          ? fmt::format("world: {{shard: {}, replicate: {}}}", plan.shard, plan.replicate)
          : "worlds: " + plan.worlds,
      word_for(offered.layouts.front()), plan.params.empty() ? params : plan.params,
      plan.precision.empty() ? first_precision(offered.precisions.front()) : plan.precision,
      optimizer_of(plan, offered), word_for(offered.gradients.front()), plan.program, plan.more);
  if (plan.microbatches > 0) text += fmt::format("microbatches: {}\n", plan.microbatches);
  Scenario scenario = load_scenario_text(text, plan.name);
  scenario.name = plan.name;
  scenario.engine = {.name = engine, .options = plan.options};
  return scenario;
}

}  // namespace adamant::scenarios
