// The fused step over PyTorch's on the same device, by turns: PyTorch steps in a process of its own
// (step_in_torch.py), which answers each line with the time that its step took there.
#include "scenarios/bench/gpu/measures.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "scenarios/bench/gpu/adam_problem.h"
#include "scenarios/bench/gpu/combinations.h"
#include "scenarios/bench/placed_memory.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr char const* suite = "gpu_step_over_torch";
constexpr char const* script = "scenarios/bench/gpu/step_in_torch.py";
/// Those in which PyTorch can step, with casts before and after where it has main weights.
constexpr char const* shared[] = {"fp32", "bf16_main_fp32", "bf16_main_fp32_gradient_fp32", "bf16"};

class Torch {
 public:
  Torch() : process_(command()) {
    std::string const answer = read();
    if (answer.rfind("torch ", 0) != 0) throw MachineLacks("bench: PyTorch: " + answer);
  }

  void make(std::string const& combination, std::span<std::int64_t const> numels) {
    std::string line = "make " + combination;
    for (std::int64_t const numel : numels) line.append(" ").append(std::to_string(numel));
    expect(ask(line), "made");
  }
  /// Units: milliseconds.
  double step(char const* how) { return std::stod(ask(std::string("step ") + how)); }

 private:
  static std::string command() {
    char const* const chosen = std::getenv("ADAMANT_PYTHON");
    return std::string("exec ") + (chosen == nullptr ? "python3" : chosen) + " " + script;
  }
  static void expect(std::string const& found, char const* expected) {
    if (found != expected) throw std::runtime_error("step_in_torch.py: " + found);
  }
  static PeerProcess::Deadline deadline() {
    return PeerProcess::Deadline(std::chrono::seconds(60));
  }
  std::string ask(std::string const& line) {
    process_.write_line(line, deadline());
    return read();
  }
  std::string read() {
    try {
      return process_.read_line(deadline());
    } catch (PeerError const& error) {
      throw std::runtime_error(std::string(error.what()) + ": " + process_.last_words());
    }
  }

  PeerProcess process_;
};

void add(std::vector<Row>& rows, std::string const& name, std::vector<double> const& ratios) {
  rows.push_back({suite, name, quantile(ratios, 0.5), "x"});
  rows.push_back({suite, name + "_least", quantile(ratios, 0), "x"});
  rows.push_back({suite, name + "_most", quantile(ratios, 0.999), "x"});
}

/// Theirs over ours: above 1 where ours is faster.
void measure(std::vector<Row>& rows, Torch& torch, std::string const& combination,
             std::string const& shape, std::span<std::int64_t const> numels, Formats const& formats,
             int rounds) {
  Device device;
  Stopwatch watch;
  AdamProblem problem(device, numels, formats);
  problem.fill();
  torch.make(combination, numels);
  std::vector<double> by_optimizer;
  std::vector<double> by_function;
  for (int round = -1; round < rounds; ++round) {  // the first warms up
    double const ours =
        std::max(watch.time(device.stream, [&] { problem.step(); }), least_milliseconds);
    double const optimizer = torch.step("optimizer");
    double const function = torch.step("function");
    if (round < 0) continue;
    by_optimizer.push_back(optimizer / ours);
    by_function.push_back(function / ours);
  }
  add(rows, combination + shape + "_optimizer", by_optimizer);
  add(rows, combination + shape + "_function", by_function);
}

}  // namespace

std::vector<Row> measure_gpu_step_over_torch(GpuSizes const& sizes) {
  Torch torch;
  std::vector<Row> rows;
  std::vector<std::int64_t> const many(static_cast<std::size_t>(sizes.many_tensors), sizes.of_many);
  for (StepCombination const& combination : combinations()) {
    bool takes = false;
    for (char const* const name : shared) takes = takes || combination.name == std::string(name);
    if (!takes) continue;
    auto const on = [&](char const* shape, std::vector<std::int64_t> const& numels) {
      measure(rows, torch, combination.name, shape, numels, combination.formats, sizes.rounds);
    };
    on("_flat", {sizes.flat});
    on("_gpt2", sizes.gpt2);
    on("_many", many);
  }
  rows.insert(rows.begin(), {suite, suite, rows.at(0).value, "x"});
  return rows;
}

}  // namespace adamant::scenarios
