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
#include "scenarios/bench/rounds.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {

namespace {

constexpr char const* script = "scenarios/bench/gpu/step_in_torch.py";
/// Those in which PyTorch can step, with casts before and after where it has main weights.
constexpr std::string_view shared[] = {"fp32", "bf16_main_fp32", "bf16_main_fp32_gradient_fp32",
                                       "bf16"};

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

/// Theirs over ours: above 1 where ours is faster.
void measure(SuiteRows& rows, Torch& torch, std::string const& combination, std::string const& name,
             std::span<std::int64_t const> numels, Formats const& formats, int rounds) {
  Device device;
  Stopwatch watch;
  AdamProblem problem(device, numels, formats);
  problem.fill();
  torch.make(combination, numels);
  auto const times = by_turns(
      rounds, {[&] { return watch.time(device.stream, [&] { problem.step(); }); },
               [&] { return torch.step("optimizer"); }, [&] { return torch.step("function"); }});
  rows.add_spread(name + "_optimizer", ratios_of(times[1], times[0]), "x");
  rows.add_spread(name + "_function", ratios_of(times[2], times[0]), "x");
}

}  // namespace

void measure_gpu_step_over_torch(GpuSizes const& sizes, SuiteRows& rows) {
  Torch torch;
  for (StepCombination const& combination : combinations()) {
    if (std::ranges::count(shared, combination.name) == 0) continue;
    for_each_shape(combination, sizes, [&](std::string const& name, auto const&... shape) {
      measure(rows, torch, combination.name, name, shape..., sizes.rounds);
    });
  }
  rows.repeat_first_as_main();
}

}  // namespace adamant::scenarios
