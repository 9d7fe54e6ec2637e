// Memory and handles used outside of their lives, each beside the same program in order.
#include <cuda_runtime.h>

#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

float* in_order(cudaStream_t stream, char const* name) {
  float* buffer = nullptr;
  cudaMallocAsync(&buffer, bytes, stream);
  name_buffer(buffer, name);
  return buffer;
}

TEST_F(Judge, FindsAKernelOnFreedMemory) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        if (!right) cudaFree(data);
        fill<<<1, 1, 0, a>>>(data, 1, 1.0F);  // several may be one access of a vector
        finish();
        if (right) cudaFree(data);
      },
      {Law::access_lifetime, {{"fill", "a", "write"}}, 0, 4});
}

void do_nothing(void*) {}

/// What is said of the first violation, where two buffers have one place after the other.
std::string said_of_reuse(void (*program)(int)) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Report const report = run(1, program, random_options(seed));
    if (report.violations.empty()) continue;
    std::string const& said = report.violations[0].message;
    if (said.find("second") != std::string::npos && said.find("first") != std::string::npos)
      return said;
  }
  return "";
}

TEST_F(Judge, NamesTheBufferThatWasMeantBesideTheOneThatCameAfterIt) {
  std::string const late = said_of_reuse([](int) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const first = in_order(a, "first");
    cudaStreamSynchronize(a);
    for (int i = 0; i < 8; ++i) cudaLaunchHostFunc(b, do_nothing, nullptr);
    fill<<<1, 1, 0, b>>>(first, 1, 1.0F);
    cudaFreeAsync(first, a);
    cudaFreeAsync(in_order(a, "second"), a);
    cudaStreamSynchronize(a);
    finish();
  });
  EXPECT_NE(late.find("; when this was enqueued, first (allocation"), std::string::npos) << late;
  std::string const stale = said_of_reuse([](int) {
    float* const first = on_device("first");
    cudaFree(first);
    cudaFree(on_device("second"));
    fill<<<1, 1>>>(first, 1, 1.0F);
    finish();
  });
  EXPECT_NE(stale.find("; before it, first (allocation"), std::string::npos) << stale;
}

// What was freed is forgotten when somebody else has its place, were it only a part of that.
TEST_F(Judge, BehindASmallOwnerNobodyIsNamedWhoHadMore) {
  int placed = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Report const report = run(
        1,
        [&](int) {
          float* large = nullptr;
          float* small = nullptr;
          cudaMalloc(&large, 4608);
          name_buffer(large, "large");
          cudaFree(large);
          cudaMalloc(&small, 4096);
          name_buffer(small, "small");
          if (small == large) ++placed;
          if (small == large) fill<<<1, 1>>>(small + 1024, 1, 1.0F);
          finish();
          cudaFree(small);
        },
        random_options(seed));
    for (Violation const& violation : report.violations) {
      EXPECT_EQ(violation.law, Law::access_bounds) << violation.message;
      EXPECT_EQ(violation.message.find("large"), std::string::npos) << violation.message;
    }
  }
  EXPECT_GT(placed, 0);
}

TEST_F(Judge, FindsAFreeThatDoesNotWaitForAFinishedKernel) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        right ? static_cast<void>(cudaStreamSynchronize(a)) : settle();
        cudaFree(data);
        finish();
      },
      {Law::access_lifetime, {{"fill", "a", "write"}, {"cudaFree", "host", "write"}}, 0, bytes});
}

TEST_F(Judge, FindsAReleaseOnAnotherStreamWithoutAnEdge) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const data = in_order(a, "data");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        settle();
        if (right) order(a, b);
        cudaFreeAsync(data, b);
        finish();
      },
      {Law::access_lifetime, {{"fill", "a", "write"}, {"cudaFreeAsync", "b", "write"}}, 0, bytes});
}

TEST_F(Judge, FindsAReleaseThatDoesNotFollowItsAllocation) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const data = in_order(a, "data");
        settle();
        if (right) order(a, b);
        cudaFreeAsync(data, b);
        finish();
      },
      {Law::access_lifetime,
       {{"cudaMallocAsync", "a", "write"}, {"cudaFreeAsync", "b", "write"}},
       0,
       bytes});
}

TEST_F(Judge, FindsAUseOnAStreamThatDoesNotFollowTheAllocation) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const data = in_order(a, "data");
        settle();
        if (right) order(a, b);
        fill<<<1, 1, 0, b>>>(data, count, 1.0F);
        finish();
      },
      {Law::access_lifetime,
       {{"cudaMallocAsync", "a", "write"}, {"fill", "b", "write"}},
       0,
       bytes});
}

TEST_F(Judge, FindsAUseBeforeTheAllocationInStreamOrder) {
  // The other order of the same two operations: fifo runs b first, because a has work to do before.
  auto const program = [](int) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    for (int i = 0; i < 8; ++i) cudaLaunchHostFunc(a, do_nothing, nullptr);
    float* const data = in_order(a, "data");
    fill<<<1, 1, 0, b>>>(data, count, 1.0F);
    finish();
  };
  bool before = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Options const options = random_options(seed);
    Report const report = run(1, program, options);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.violations[0].law, Law::access_lifetime) << describe(report);
    before =
        before || report.violations[0].message.find("before its allocation") != std::string::npos;
  }
  EXPECT_TRUE(before);
}

TEST_F(Judge, FindsAnEarlyFreeOfAStreamOrderedAllocation) {
  bool early = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Options const options = random_options(seed);
    Report const report = run(
        1,
        [](int) {
          cudaStream_t const a = new_stream("a");
          for (int i = 0; i < 4; ++i) cudaLaunchHostFunc(a, do_nothing, nullptr);
          cudaFree(in_order(a, "data"));
          in_order(a, "the next");
          finish();
        },
        options);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.violations[0].law, Law::access_lifetime) << describe(report);
    early = early || report.violations[0].message.find("is freed by") != std::string::npos;
  }
  EXPECT_TRUE(early);
}

TEST_F(Judge, FindsARaceAcrossReuseByTheAllocator) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaStream_t const b = new_stream("b");
        float* const total = on_device("total");
        float* const first = in_order(a, "first");
        fill<<<1, 1, 0, a>>>(first, count, 1.0F);
        order(a, b);
        sum<<<1, 1, 0, b>>>(total, first, count);
        settle();
        if (right) order(b, a);
        cudaFreeAsync(first, a);
        float* const second = in_order(a, "second");
        fill<<<1, 1, 0, a>>>(second, count, 2.0F);
        finish();
      },
      {Law::access_lifetime, {{"sum", "b", "read"}, {"cudaFreeAsync", "a", "write"}}, 0, bytes});
}

TEST_F(Judge, FindsAKernelThatReachesTheNextOwnerOfItsMemory) {
  // The late kernel runs when the block already belongs to somebody else; under some schedules
  // only.
  int found = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Options const options = random_options(seed);
    Report const report = run(
        1,
        [](int) {
          cudaStream_t const a = new_stream("a");
          cudaStream_t const b = new_stream("b");
          float* const total = on_device("total");
          float* const first = in_order(a, "first");
          fill<<<1, 1, 0, a>>>(first, count, 1.0F);
          order(a, b);
          sum<<<1, 1, 0, b>>>(total, first, count);
          cudaFreeAsync(first, a);
          float* const second = in_order(a, "second");
          fill<<<1, 1, 0, a>>>(second, count, 2.0F);
          finish();
        },
        options);
    EXPECT_FALSE(report.ok());
    for (Violation const& violation : report.violations) {
      if (violation.accesses.empty()) continue;
      if (violation.accesses[0].buffer.find("second") != std::string::npos) ++found;
    }
  }
  EXPECT_GT(found, 0);
}

TEST_F(Judge, FindsAPinnedBufferFreedUnderACopy) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const on_host = pinned("on host");
        float* const data = on_device("data");
        cudaMemcpyAsync(data, on_host, bytes, cudaMemcpyHostToDevice, a);
        right ? static_cast<void>(cudaStreamSynchronize(a)) : settle();
        cudaFreeHost(on_host);
        finish();
      },
      {Law::access_lifetime,
       {{"cudaMemcpyAsync of 64 bytes", "a", "read"}, {"cudaFreeHost", "host", "write"}},
       0,
       bytes});
}

TEST_F(Judge, FindsMemoryUnregisteredUnderACopy) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float source[count] = {};
        cudaHostRegister(source, bytes, cudaHostRegisterDefault);
        float* const data = on_device("data");
        cudaMemcpyAsync(data, source, bytes, cudaMemcpyHostToDevice, a);
        right ? static_cast<void>(cudaStreamSynchronize(a)) : settle();
        cudaHostUnregister(source);
        finish();
      },
      {Law::access_lifetime,
       {{"cudaMemcpyAsync of 64 bytes", "a", "read"}, {"cudaHostUnregister", "host", "write"}},
       0,
       bytes});
}

// The copy may have run by then or not: either way it is reported.
TEST_F(Judge, FindsMemoryUnregisteredBeforeOrAfterACopyRuns) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Report const report = run(
        1,
        [](int) {
          cudaStream_t const a = new_stream("a");
          float source[count] = {};
          cudaHostRegister(source, bytes, cudaHostRegisterDefault);
          cudaMemcpyAsync(on_device("data"), source, bytes, cudaMemcpyHostToDevice, a);
          cudaHostUnregister(source);
          finish();
        },
        random_options(seed));
    ASSERT_EQ(report.violations.size(), 1U) << "seed " << seed;
    EXPECT_EQ(report.violations.front().law, Law::access_lifetime);
  }
}

TEST_F(Judge, FindsADestroyedStream) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        if (!right) cudaStreamDestroy(a);
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        if (right) cudaStreamDestroy(a);  // what is enqueued still runs
        finish();
      },
      {Law::access_lifetime, {}});
}

TEST_F(Judge, FindsADestroyedEvent) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaEvent_t const event = new_event();
        if (!right) cudaEventDestroy(event);
        cudaEventRecord(event, a);
        if (right) cudaEventDestroy(event);
        finish();
      },
      {Law::access_lifetime, {}});
}

TEST_F(Judge, AnswersADoubleFreeWithAnError) {
  Report const report = run(1, [](int) {
    float* const data = on_device("data");
    EXPECT_EQ(cudaFree(data), cudaSuccess);
    EXPECT_EQ(cudaFree(data), cudaErrorInvalidValue);
    EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFreeAsync(data, nullptr), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(pinned("on host")), cudaErrorInvalidValue);
    EXPECT_EQ(cudaFree(on_device("inner") + 1), cudaErrorInvalidValue);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_F(Judge, ShowsALeakAmongTheLiveAllocations) {
  run(1, [](int) {
    float* const kept = on_device("kept");
    float* const freed = on_device("freed");
    float* const on_host = pinned("on host");
    cudaFree(freed);
    std::vector<LiveAllocation> const live = live_allocations();
    ASSERT_EQ(live.size(), 2U);
    for (LiveAllocation const& allocation : live) {
      EXPECT_EQ(allocation.address, allocation.on_host ? on_host : kept);
      EXPECT_EQ(allocation.bytes, bytes);
      EXPECT_EQ(allocation.rank, 0);
    }
  });
}

TEST_F(Judge, CountsHandlesThatNobodyDestroyed) {
  run(1, [](int) {
    LiveHandles const none;
    EXPECT_EQ(live_handles(), none);
    cudaStream_t stream = nullptr;
    cudaEvent_t event = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaEventCreate(&event);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    LiveHandles const one = {.streams = 1, .events = 1, .graphs = 1, .executable_graphs = 1};
    EXPECT_EQ(live_handles(), one);
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
    cudaEventDestroy(event);
    cudaStreamDestroy(stream);
    EXPECT_EQ(live_handles(), none);
  });
}

// Hardware waits, the documents do not promise it.
TEST_F(Judge, AFreeWaitsForTheDeviceUnlessTheOptionsSayOtherwise) {
  for (bool const waits : {true, false}) {
    Options options = random_options(5);
    options.free_waits = waits;
    Report const report = run(
        1,
        [](int) {
          cudaStream_t const a = new_stream("a");
          float* const data = on_device("data");
          float* host = nullptr;
          cudaMallocHost(&host, bytes);
          fill<<<1, 1, 0, a>>>(data, count, 1.0F);
          cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, a);
          cudaFree(data);
          cudaFreeHost(host);
          cudaStreamDestroy(a);
        },
        options);
    EXPECT_EQ(report.ok(), waits) << describe(report);
  }
}

// A copy from pageable memory may still move bytes when it has returned.
TEST_F(Judge, ACopyOfTheRightLengthIsNotAccused) {
  for (std::size_t const excess : {0, 4}) {
    Options options;
    options.announce = false;
    Report const report = explore(
        1,
        [&](int) {
          std::vector<float> values(count + 1, 1.0F);
          float* const data = on_device("data");
          float* const next = on_device("next");
          cudaMemcpy(next, values.data(), bytes, cudaMemcpyHostToDevice);
          cudaMemcpy(data, values.data(), bytes + excess, cudaMemcpyHostToDevice);
          cudaMemcpy(values.data(), data, bytes, cudaMemcpyDeviceToHost);
          cudaFree(data);
          cudaFree(next);
        },
        20, options);
    EXPECT_EQ(report.ok(), excess == 0) << describe(report);
    for (Violation const& found : report.violations) EXPECT_EQ(found.law, Law::access_bounds);
  }
}

}  // namespace
}  // namespace adamant::sim
