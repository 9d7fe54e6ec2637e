// Graphs that use what is gone, hold what has changed, or are not ordered, each beside the same
// program in order.
#include <cuda_runtime.h>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

struct Pair {
  float* to;
  float const* from;
};

__global__ void copy_first(Pair pair) {
  pair.to[0] = pair.from[0];
}

__global__ void scale(float* to, float factor) {
  to[0] = factor;
}

TEST_F(Judge, FindsAGraphOnFreedMemory) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        cudaGraphExec_t const graph = captured(a, [&] { fill<<<1, 1, 0, a>>>(data, 1, 1.0F); });
        if (!right) cudaFree(data);
        cudaGraphLaunch(graph, a);
        finish();
        if (right) cudaFree(data);
      },
      {Law::graph_pointer, {{"fill", "a", "write"}}, 0, 4});
}

TEST_F(Judge, FindsAGraphOnMemoryThatIsSomebodyElsesByNow) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* data = nullptr;
        cudaMallocAsync(&data, bytes, a);
        name_buffer(data, "data");
        cudaGraphExec_t const graph = captured(a, [&] { fill<<<1, 1, 0, a>>>(data, 1, 1.0F); });
        float* other = data;
        if (!right) {  // until the allocator gives the same address again
          cudaFreeAsync(data, a);
          for (int i = 0; i < 64; ++i) {
            cudaMallocAsync(&other, bytes, a);
            if (other == data) break;
            cudaFreeAsync(other, a);
          }
        }
        cudaGraphLaunch(graph, a);
        finish();
      },
      {Law::graph_pointer, {{"fill", "a", "write"}}, 0, 4});
}

TEST_F(Judge, FindsAStalePointerInsideAnArgument) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float* const old = on_device("old");
        fill<<<1, 1, 0, a>>>(old, count, 2.0F);
        cudaGraphExec_t const graph = captured(a, [&] {
          copy_first<<<1, 1, 0, a>>>(Pair{data, old});
        });
        finish();
        if (!right) cudaFree(old);
        cudaGraphLaunch(graph, a);
        finish();
      },
      {Law::graph_pointer, {{"copy_first", "a", "read"}}, 0, 4});
}

TEST_F(Judge, FindsACapturedCopyFromFreedPinnedMemory) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float* const source = pinned("source");
        cudaGraphExec_t const graph =
            captured(a, [&] { cudaMemcpyAsync(data, source, bytes, cudaMemcpyHostToDevice, a); });
        if (!right) cudaFreeHost(source);
        cudaGraphLaunch(graph, a);
        finish();
      },
      {Law::graph_pointer, {{"cudaMemcpyAsync of 64 bytes", "a", "read"}}, 0, bytes});
}

TEST_F(Judge, FindsThatNobodyWaitsForACapturedCopyWithinTheHost) {
  for (bool const right : {false, true}) {
    Report const report = run(1, [=](int) {
      cudaStream_t const a = new_stream("a");
      float* const data = on_device("data");
      float* const landing = pinned("landing");
      float* const from = pinned("from");
      float* const to = pinned("to");
      fill<<<1, 1, 0, a>>>(data, count, 1.0F);
      cudaMemcpyAsync(landing, data, bytes, cudaMemcpyDeviceToHost, a);
      captured(a, [&] { cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToHost, a); });
      if (right) cudaStreamSynchronize(a);
      landing[0] = 2.0F;
      finish();
    });
    ASSERT_EQ(report.ok(), right) << describe(report);
    if (right) continue;
    EXPECT_EQ(report.violations[0].law, Law::order_race);
  }
}

__attribute__((noinline)) cudaGraphExec_t capture_copy_of_a_local(cudaStream_t stream, float* to) {
  float const local[2] = {1, 2};
  return captured(
      stream, [&] { cudaMemcpyAsync(to, local, sizeof local, cudaMemcpyHostToDevice, stream); });
}

TEST_F(Judge, FindsACapturedCopyFromAVariableThatIsGone) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaGraphExec_t const graph = capture_copy_of_a_local(a, on_device("data"));
    cudaGraphLaunch(graph, a);
    finish();
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::graph_pointer);
}

TEST_F(Judge, FindsAWriteBeneathACapturedCopyFromPageableMemory) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float source[2] = {1, 2};
        cudaGraphExec_t const graph = captured(
            a, [&] { cudaMemcpyAsync(data, source, sizeof source, cudaMemcpyHostToDevice, a); });
        cudaGraphLaunch(graph, a);
        if (right) cudaStreamSynchronize(a);
        *const_cast<float volatile*>(source) = 3;
        finish();
      },
      {Law::order_race,
       {{"cudaMemcpyAsync of 8 bytes", "a", "read"}, {"host code", "host", "write"}},
       0,
       4});
}

TEST_F(Judge, FindsASettingThatAGraphHoldsByValue) {
  auto const program = [](bool right) {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    float rate = 1e-3F;
    note_setting("lr", rate);
    cudaGraphExec_t graph = captured(a, [&] { scale<<<1, 1, 0, a>>>(data, rate); });
    cudaGraphLaunch(graph, a);
    rate = 5e-4F;
    note_setting("lr", rate);
    if (right) graph = captured(a, [&] { scale<<<1, 1, 0, a>>>(data, rate); });
    cudaGraphLaunch(graph, a);
    finish();
  };
  EXPECT_TRUE(run(1, [&](int) { program(true); }).ok());
  Report const report = run(1, [&](int) { program(false); });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::graph_scalar);
  EXPECT_NE(report.violations[0].message.find("lr = 0.001"), std::string::npos) << describe(report);
  // What a rank notes is its own.
  Report const second = run(2, [&](int rank) { program(rank == 0); });
  ASSERT_EQ(second.violations.size(), 1U) << describe(second);
  EXPECT_EQ(second.violations[0].law, Law::graph_scalar);
}

TEST_F(Judge, FindsBranchesOfAGraphWithoutAnEdge) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const data = on_device("data");
        cudaGraphExec_t const graph = captured(a, [&] {
          order(a, b);
          fill<<<1, 1, 0, a>>>(data, 1, 1.0F);
          if (right) order(a, b);
          sum<<<1, 1, 0, b>>>(data + 1, data, 1);
          order(b, a);
        });
        fill<<<1, 1, 0, a>>>(data, count, 0.0F);
        cudaGraphLaunch(graph, a);
        finish();
      },
      {Law::order_race,
       {{"fill", "a", "write"}, {"sum", "branch 1 of the graph of a", "read"}},
       0,
       4});
}

TEST_F(Judge, FindsAHostThatReadsWhatALaunchWrites) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float* const result = pinned("result");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        cudaGraphExec_t const graph =
            captured(a, [&] { cudaMemcpyAsync(result, data, 4, cudaMemcpyDeviceToHost, a); });
        cudaGraphLaunch(graph, a);
        if (right) cudaStreamSynchronize(a);
        [[maybe_unused]] float const read = *const_cast<float volatile*>(result);
        finish();
      },
      {Law::order_race,
       {{"cudaMemcpyAsync of 4 bytes", "a", "write"}, {"host code", "host", "read"}},
       0,
       4});
}

TEST_F(Judge, FindsAnIllegalCallInACapture) {
  auto const program = [](bool right) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const data = on_device("data");
    cudaEvent_t const event = new_event();
    if (!right) cudaEventRecord(event, b);
    cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
    cudaStreamWaitEvent(a, event);
    fill<<<1, 1, 0, a>>>(data, 1, 1.0F);
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(a, &graph);
  };
  EXPECT_TRUE(run(1, [&](int) { program(true); }).ok());
  Report const report = run(1, [&](int) { program(false); });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::graph_capture);
}

TEST_F(Judge, FindsAnotherThreadsUnsafeCallBesideAGlobalCapture) {
  auto const program = [](int rank, cudaStreamCaptureMode mode) {
    cudaStream_t const a = new_stream("a");
    if (rank == 0) cudaStreamBeginCapture(a, mode);
    barrier();
    void* memory = nullptr;
    if (rank == 1) cudaMalloc(&memory, 64);
    barrier();
    cudaGraph_t graph = nullptr;
    if (rank == 0) cudaStreamEndCapture(a, &graph);
  };
  Options options;
  options.announce = false;
  auto const global = [&](int rank) { program(rank, cudaStreamCaptureModeGlobal); };
  EXPECT_TRUE(run(2, global, options).ok()) << "ranks are processes unless the options say so";
  options.one_process = true;
  auto const own = [&](int rank) { program(rank, cudaStreamCaptureModeThreadLocal); };
  EXPECT_TRUE(run(2, own, options).ok());
  Report const report = run(2, global, options);
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].law, Law::graph_capture);
  EXPECT_EQ(report.violations[0].rank, 1);
}

}  // namespace
}  // namespace adamant::sim
