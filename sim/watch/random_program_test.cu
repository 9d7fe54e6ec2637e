// The judge against programs that are right by construction: it must be silent, and must speak as
// soon as one edge that is needed is left out.
#include <cuda_runtime.h>

#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/random_program.h"

namespace adamant::sim {
namespace {

using Program = RandomProgram;

__global__ void mix(float* to, int written, float const* from, int read) {
  float sum = 0;
  for (int i = 0; i < read; ++i) sum += from[i];
  for (int i = 0; i < written; ++i) to[i] = sum;
}

struct Span {
  float* data;
  int count;
};

void write_span(void* argument) {
  Span const& span = *static_cast<Span const*>(argument);
  for (int i = 0; i < span.count; ++i) span.data[i] = 1.0F;
}

/// Issues the steps of a program, as the host of one rank would.
class Issue {
 public:
  explicit Issue(Program const& program) : program_(program) {
    streams_.resize(static_cast<std::size_t>(program.streams));
    for (cudaStream_t& stream : streams_) {
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    }
    for (Program::Place const place : program.buffers) {
      float*& buffer = buffers_.emplace_back();
      if (place == Program::Place::device) cudaMalloc(&buffer, bytes);
      if (place == Program::Place::pinned) cudaMallocHost(&buffer, bytes);
    }
    spans_.resize(program.steps.size());
    events_.resize(program.steps.size());
  }

  void all() {
    for (std::size_t i = 0; i < program_.steps.size(); ++i) {
      Program::Step const& step = program_.steps[i];
      for (int const earlier : step.after) wait(step, events_[static_cast<std::size_t>(earlier)]);
      issue(step, spans_[i]);
      if (!step.recorded) continue;
      cudaEventCreateWithFlags(&events_[i], cudaEventDisableTiming);
      cudaEventRecord(events_[i], stream(step));
    }
    cudaDeviceSynchronize();
  }

 private:
  static constexpr std::size_t bytes = Program::elements * sizeof(float);

  cudaStream_t stream(Program::Step const& step) const {
    return streams_[static_cast<std::size_t>(step.stream)];
  }
  float*& buffer(Program::Use const& use) { return buffers_[static_cast<std::size_t>(use.buffer)]; }
  float* at(Program::Use const& use) { return buffer(use) + use.begin; }
  static int count(Program::Use const& use) { return use.end - use.begin; }
  static std::size_t size(Program::Use const& use) {
    return static_cast<std::size_t>(count(use)) * sizeof(float);
  }

  void wait(Program::Step const& step, cudaEvent_t event) {
    if (step.stream == Program::host) {
      cudaEventSynchronize(event);
    } else {
      cudaStreamWaitEvent(stream(step), event, 0);
    }
  }

  void issue(Program::Step const& step, Span& span) {
    switch (step.kind) {
      case Program::Kind::allocate:
        cudaMallocAsync(&buffer(step.writes), bytes, stream(step));
        return;
      case Program::Kind::release:
        cudaFreeAsync(buffer(step.writes), stream(step));
        return;
      case Program::Kind::kernel:
        mix<<<1, 1, 0, stream(step)>>>(at(step.writes), count(step.writes), at(step.reads),
                                       count(step.reads));
        return;
      case Program::Kind::copy:
        cudaMemcpyAsync(at(step.writes), at(step.reads), size(step.reads), cudaMemcpyDefault,
                        stream(step));
        return;
      case Program::Kind::fill:
        cudaMemsetAsync(at(step.writes), 0, size(step.writes), stream(step));
        return;
      case Program::Kind::host_function:
        span = {at(step.writes), count(step.writes)};
        cudaLaunchHostFunc(stream(step), write_span, &span);
        return;
      case Program::Kind::host_access:
        return access(step);
    }
  }

  void access(Program::Step const& step) {
    for (int i = step.writes.begin; i < step.writes.end; ++i) buffer(step.writes)[i] = 2.0F;
    for (int i = step.reads.begin; i < step.reads.end; ++i) {
      float const volatile* const from = buffer(step.reads);
      static_cast<void>(from[i]);
    }
  }

  Program const& program_;
  std::vector<cudaStream_t> streams_;
  std::vector<float*> buffers_;
  std::vector<cudaEvent_t> events_;
  std::vector<Span> spans_;
};

Report run_program(Program const& program, std::uint64_t seed) {
  Options options = random_options(seed);
  if (seed % 3 == 0) options.schedule.strategy = Strategy::fifo;
  if (seed % 3 == 1) options.schedule.strategy = Strategy::pct;
  return run(
      1, [&](int) { Issue(program).all(); }, options);
}

TEST_F(Judge, IsSilentAboutThousandsOfOrderedPrograms) {
  std::size_t edges = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Program const program = Program::draw(seed);
    ASSERT_TRUE(program.ordered());
    Report const report = run_program(program, seed);
    ASSERT_TRUE(report.ok()) << "seed " << seed << "\n" << describe(report);
    edges += program.edges().size();
  }
  EXPECT_GT(edges, 10'000U);  // else the programs would prove nothing
}

TEST_F(Judge, SpeaksWhenAnyNeededEdgeIsLeftOut) {
  int reported = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Program const program = Program::draw(seed);
    for (Program::Edge const& edge : program.edges()) {
      Program const wrong = program.without(edge);
      if (wrong.ordered()) continue;
      Report const report = run_program(wrong, seed);
      ASSERT_FALSE(report.ok()) << "seed " << seed << ", step " << edge.step;
      ++reported;
    }
  }
  EXPECT_GT(reported, 2000);
}

}  // namespace
}  // namespace adamant::sim
