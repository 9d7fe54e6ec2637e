// The fused step in all combinations of formats: one flat tensor, GPT-2's and very many.
#include "scenarios/bench/gpu/adam_problem.h"
#include "scenarios/bench/gpu/combinations.h"
#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/gpu/turns.h"

namespace adamant::scenarios {

namespace {

void measure(Turns& turns, std::string const& name, std::span<std::int64_t const> numels,
             Formats const& formats) {
  AdamProblem problem(turns.device(), numels, formats);
  std::int64_t const wrong = problem.bytes_unlike_twin();
  if (wrong > 0) return turns.note_wrong(name, wrong);
  problem.fill();
  std::vector<Contender> contenders = {
      {.name = name, .bytes = problem.bytes_of_step(), .enqueue = [&] { problem.step(); }}};
  if (problem.has_scales())
    contenders.push_back({.name = name + "_amaxes",
                          .bytes = problem.bytes_of_look(),
                          .enqueue = [&] { problem.look(); }});
  turns.take(contenders);
}

}  // namespace

void measure_gpu_step(GpuSizes const& sizes, SuiteRows& rows) {
  Turns turns(rows, sizes);
  for (StepCombination const& combination : combinations())
    for_each_shape(combination, sizes, [&](auto const&... shape) {
      measure(turns, shape...);
      turns.device().forget();
    });
  turns.finish();
}

}  // namespace adamant::scenarios
