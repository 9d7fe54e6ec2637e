// What a step costs the host: one that is replayed from a graph, and one whose calls are made anew.
// The device may be busy longer; that is not looked at.
#include <chrono>
#include <memory>

#include "real/cuda/error.h"
#include "real/engine.h"
#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/rounds.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t numel = 1'000;  // of a tensor

class Zeros final : public real::GradientSource {
 public:
  void backward(real::UnitBackward const& request) override {
    for (real::WholeTensor const& tensor : request.tensors)
      if (tensor.gradient != nullptr)
        ADAMANT_TRY(cudaMemsetAsync(tensor.gradient, 0,
                                    static_cast<std::size_t>(tensor.numel) * sizeof(float),
                                    request.stream));
  }
};

real::EngineConfig config_of(int tensors) {
  real::EngineConfig config;
  for (int p = 0; p < tensors; ++p)
    config.parameters.push_back({.name = std::to_string(p), .shape = {numel}});
  config.groups = {{}};
  config.capturable = true;
  ADAMANT_TRY(ncclGetUniqueId(&config.nccl_id));
  return config;
}

/// Until `function` returns; then the device is waited for.
template <typename Function>
double microseconds_of(real::Engine& engine, Function const& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  auto const gone = std::chrono::steady_clock::now() - begin;
  engine.synchronize();
  return std::chrono::duration<double, std::micro>(gone).count();
}

void measure(SuiteRows& rows, int tensors, int rounds) {
  Zeros source;
  auto const engine = real::make_engine(config_of(tensors), source);
  engine->backward({});
  real::Verb const step[] = {{.kind = real::Verb::Kind::step}};
  engine->capture(step);
  auto const times =
      by_turns(rounds, {[&] { return microseconds_of(*engine, [&] { engine->replay(); }); },
                        [&] { return microseconds_of(*engine, [&] { engine->step(); }); }});
  std::string const of = std::to_string(tensors) + "_tensors";
  rows.add_spread("replay_" + of, times[0], "us");
  rows.add_spread("eager_" + of, times[1], "us");
}

}  // namespace

void measure_gpu_captured(GpuSizes const& sizes, SuiteRows& rows) {
  for (int const tensors : sizes.captured) measure(rows, tensors, sizes.captured_rounds);
  rows.repeat_first_as_main();
}

}  // namespace adamant::scenarios
