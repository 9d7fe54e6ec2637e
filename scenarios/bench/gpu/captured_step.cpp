// What a step costs the host: one that is replayed from a graph, and one whose calls are made anew.
// The device may be busy longer; that is not looked at.
#include <chrono>
#include <memory>

#include "real/cuda/error.h"
#include "real/engine.h"
#include "scenarios/bench/gpu/measures.h"
#include "scenarios/bench/placed_memory.h"

namespace adamant::scenarios {

namespace {

constexpr std::int64_t numel = 1'000;  // of a tensor
constexpr char const* suite = "gpu_captured_step";

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

template <typename Function>
double microseconds_of(Function const& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  auto const gone = std::chrono::steady_clock::now() - begin;
  return std::chrono::duration<double, std::micro>(gone).count();
}

void add(std::vector<Row>& rows, std::string const& name, std::vector<double> const& times) {
  rows.push_back({suite, name, quantile(times, 0.5), "us"});
  rows.push_back({suite, name + "_least", quantile(times, 0), "us"});
  rows.push_back({suite, name + "_most", quantile(times, 0.999), "us"});
}

void measure(std::vector<Row>& rows, int tensors, int rounds) {
  Zeros source;
  auto const engine = real::make_engine(config_of(tensors), source);
  engine->backward({});
  real::Verb const step[] = {{.kind = real::Verb::Kind::step}};
  engine->capture(step);
  std::vector<double> replay;
  std::vector<double> eager;
  for (int round = -1; round < rounds; ++round) {  // the first warms up
    double const replayed = microseconds_of([&] { engine->replay(); });
    engine->synchronize();
    double const stepped = microseconds_of([&] { engine->step(); });
    engine->synchronize();
    if (round < 0) continue;
    replay.push_back(replayed);
    eager.push_back(stepped);
  }
  std::string const of = std::to_string(tensors) + "_tensors";
  add(rows, "replay_" + of, replay);
  add(rows, "eager_" + of, eager);
}

}  // namespace

std::vector<Row> measure_gpu_captured(GpuSizes const& sizes) {
  std::vector<Row> rows;
  for (int const tensors : sizes.captured) measure(rows, tensors, sizes.captured_rounds);
  rows.insert(rows.begin(), {suite, suite, rows.at(0).value, "us"});
  return rows;
}

}  // namespace adamant::scenarios
