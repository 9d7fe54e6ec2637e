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

std::vector<Row> measure_gpu_step(GpuSizes const& sizes) {
  Turns turns("gpu_step_over_copy", sizes.rounds, sizes.copy_bytes);
  std::vector<std::int64_t> const many(static_cast<std::size_t>(sizes.many_tensors), sizes.of_many);
  for (StepCombination const& combination : combinations()) {
    auto const measure_on = [&](char const* shape, std::vector<std::int64_t> const& numels) {
      measure(turns, std::string(combination.name) + shape, numels, combination.formats);
      turns.device().forget();
    };
    measure_on("_flat", {sizes.flat});
    measure_on("_gpt2", sizes.gpt2);
    measure_on("_many", many);
  }
  return turns.rows();
}

}  // namespace adamant::scenarios
