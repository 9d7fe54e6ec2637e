// At which lines a violation happened: of the accesses, of the calls that enqueued them, and of
// those that made and freed the buffer. Each test breaks one rule and says the lines itself.
#include "sim/watch/watch.h"  // before names as short as those of test_program.h

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/marked_lines.h"
#include "sim/testing/ranks.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

class SourceLine : public Judge {
 protected:
  Marks const marks{"sim/watch/location_test.cu"};
};

__device__ inline void store(float* to, float value) {
  *to = value;  // <- stored_at
}

template <typename T, int width>
__global__ void write_one(T* to) {
  store(to + width, T{1});
}

__global__ void read_one(float const* from, float* to) {
  to[0] = from[1];  // <- loaded_at
}

TEST(SourceName, IsBelowTheProjectHoweverTheCompilerWasToldIt) {
  EXPECT_EQ(source_name("build", "build/real/adam.cu"), "real/adam.cu");
  EXPECT_EQ(source_name("build/dev", "build/dev/../../real/adam.cu"), "real/adam.cu");
  EXPECT_EQ(source_name("build/dev", "../../real/adam.cu"), "real/adam.cu");
  EXPECT_EQ(source_name("/home/me/build", "/home/me/build/../real/adam.cu"),
            "/home/me/real/adam.cu");
  EXPECT_EQ(source_name("build", "/usr/include/c++/12/vector"), "/usr/include/c++/12/vector");
  EXPECT_EQ(source_name("", "adam.cu"), "adam.cu");
}

template <typename Each>
__global__ void for_each(Each each) {
  each(static_cast<int>(threadIdx.x));
}

TEST_F(SourceLine, AKernelThatCallsALambdaHasTheNameThatTheSourceGivesIt) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const data = on_device("data");
    for_each<<<1, 1, 0, a>>>([=] __device__(int i) { data[i] = 1; });
    for_each<<<1, 1, 0, b>>>([=] __device__(int i) { data[i] = 2; });
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(found.accesses[0].operation, "for_each");
  EXPECT_EQ(found.accesses[1].operation, "for_each");
}

TEST_F(SourceLine, OneMissingWaitIsOneViolationWhateverTheSizes) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const data = on_device("data");
    for (std::size_t size = bytes; size > 0; size -= 4) cudaMemsetAsync(data, 0, size, a);
    for_each<<<1, bytes / 4, 0, b>>>([=] __device__(int i) { data[i] = 1; });
    finish();
  });
  EXPECT_EQ(report.violations.size(), 1U) << describe(report);
}

TEST_F(SourceLine, NoLawCrowdsOutAnother) {
  Report const report = run(1, [](int) {
    float* const data = on_device("data");
    for (int i = 0; i < 70; ++i) {
      cudaStream_t const stream = new_stream(std::to_string(i).c_str());
      cudaMemsetAsync(data, 0, 4, stream);  // unordered with that of the stream before
    }
    cudaDeviceSynchronize();
    write_one<float, 64><<<1, 1>>>(data);
    finish();
  });
  EXPECT_GE(report.violations.size(), 65U) << describe(report);
  EXPECT_EQ(report.violations.back().law, Law::access_bounds);
}

TEST_F(SourceLine, AreLookedForOnceHoweverOftenAMistakeIsMade) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const data = on_device("data");
    float* const other = on_device("other");
    for (int i = 0; i < 50; ++i) {
      write_one<float, 1><<<1, 1, 0, a>>>(data);
      read_one<<<1, 1, 0, b>>>(data, other);
    }
    finish();
  });
  ASSERT_EQ(report.violations.size(), 1U);
  EXPECT_GE(report.violations[0].count, 50);
  EXPECT_TRUE(report.violations[0].accesses[0].at.known());
  EXPECT_LE(report.sought.size(), 6U);
}

// A call at the end of a function: compilers would give the frame away before it. With -O1, as
// tests are built, clang does, and g++ only if it is told to.
#ifndef __clang__
[[gnu::optimize("O2")]]
#endif
[[gnu::noinline]] cudaError_t
clear_first(float* data, cudaStream_t stream) {
  return cudaMemsetAsync(data, 0, 8, stream);  // <- cleared_at_the_end
}

TEST_F(SourceLine, OfACallAtTheEndOfAFunction) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const data = on_device("data");
    EXPECT_EQ(clear_first(data, a), cudaSuccess);
    write_one<float, 1><<<1, 1, 0, b>>>(data);
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("cleared_at_the_end"));
  EXPECT_EQ(found.accesses[0].enqueued_at.function, "clear_first");
}

TEST_F(SourceLine, OfBothAccessesOfARaceAndOfTheirLaunches) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* data = nullptr;
    float* const other = on_device("other");
    cudaMalloc(&data, 64);                      // <- allocated
    write_one<float, 1><<<1, 1, 0, a>>>(data);  // <- first
    read_one<<<1, 1, 0, b>>>(data, other);      // <- second
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  Access const& store = found.accesses[0];
  Access const& load = found.accesses[1];
  EXPECT_EQ(place(store.at), marks.place("stored_at"));
  EXPECT_EQ(store.at.function, "store");
  EXPECT_EQ(place(store.enqueued_at), marks.place("first"));
  EXPECT_EQ(store.operation, "write_one<float, 1>");
  EXPECT_EQ(place(load.at), marks.place("loaded_at"));
  EXPECT_EQ(load.at.function, "read_one");
  EXPECT_EQ(place(load.enqueued_at), marks.place("second"));
  EXPECT_EQ(place(load.allocated_at), marks.place("allocated"));
  EXPECT_FALSE(load.freed_at.known());
}

TEST_F(SourceLine, OfAUseAfterAFreeAndOfTheFree) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    cudaFree(data);                             // <- freed
    write_one<float, 0><<<1, 1, 0, a>>>(data);  // <- used
    cudaStreamSynchronize(a);
  });
  ASSERT_EQ(found.law, Law::access_lifetime);
  ASSERT_EQ(found.accesses.size(), 1U);
  EXPECT_EQ(place(found.accesses[0].freed_at), marks.place("freed"));
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("used"));
  EXPECT_EQ(place(found.accesses[0].at), marks.place("stored_at"));
}

TEST_F(SourceLine, OfHostCodeThatReadsWhatACopyWrites) {
  float value = 0;
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    float* host = nullptr;
    cudaMallocHost(&host, bytes);
    cudaMemsetAsync(data, 0, bytes, a);
    cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, a);  // <- copied
    value = host[3];                                                // <- read
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("copied"));
  EXPECT_FALSE(found.accesses[0].at.known());
  EXPECT_EQ(place(found.accesses[1].at), marks.place("read"));
  EXPECT_FALSE(found.accesses[1].enqueued_at.known());
}

TEST_F(SourceLine, OfAMemcpyOfHostCodeAndOfNoMoveByAStream) {
  float values[count] = {};
  Violation const found = first_of(run_ranks(1, [&](Rank& rank) {
    float* const sums = pinned("sums");
    ncclAllReduce(sums, sums, count, ncclFloat, ncclSum, rank.comm, rank.stream);  // <- reduced
    std::memcpy(values, sums, bytes);                                              // <- moved
  }));
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(found.accesses[0].name, "ncclAllReduce");
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("reduced"));
  EXPECT_FALSE(found.accesses[0].at.known());
  EXPECT_EQ(place(found.accesses[1].at), marks.place("moved"));
}

TEST_F(SourceLine, OfPageableMemoryWhoseAddressChangesFromRunToRun) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    std::vector<float> values(count, 1.0F);
    cudaMemcpyAsync(data, values.data(), bytes, cudaMemcpyHostToDevice, a);  // <- sent
    values[2] = 2.0F;                                                        // <- written
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("sent"));
  EXPECT_EQ(place(found.accesses[1].at), marks.place("written"));
}

TEST_F(SourceLine, OfEachOfTwoBlocks) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    write_one<float, 0><<<2, 1, 0, a>>>(data);
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(place(found.accesses[0].at), marks.place("stored_at"));
  EXPECT_EQ(place(found.accesses[1].at), marks.place("stored_at"));
}

TEST_F(SourceLine, OfACallThatNoCaptureMayHold) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    cudaStreamSynchronize(a);  // <- called
    cudaStreamEndCapture(a, &graph);
  });
  ASSERT_EQ(found.law, Law::graph_capture);
  EXPECT_EQ(place(found.at), marks.place("called"));
}

TEST_F(SourceLine, OfWhereEachRankWaitsInADeadlock) {
  Violation const found = first_violation(
      [&] {
        if (current_rank() == 0) barrier();  // <- waited
      },
      2);
  ASSERT_EQ(found.law, Law::order_deadlock);
  EXPECT_EQ(place(found.at), marks.place("waited"));
  ASSERT_EQ(found.waiting.size(), 1U);
  EXPECT_EQ(found.waiting[0].rank, 0);
  EXPECT_EQ(place(found.waiting[0].at), marks.place("waited"));
}

TEST_F(Judge, FoldsOneMistakeOverRanksAndBuffersAndSteps) {
  Report const report = run(3, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaStream_t const b = new_stream("b");
    float* const other = on_device("other");
    for (int step = 0; step < 2; ++step) {
      float* const data = on_device("data");
      fill<<<1, 1, 0, a>>>(data, count, 1.0F);
      sum<<<1, 1, 0, b>>>(other, data, count);
      finish();
    }
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].count, 6);
  EXPECT_EQ(report.violations[0].ranks, (std::vector{0, 1, 2}));
  EXPECT_NE(describe(report).find("found 6 times, on ranks 0, 1, 2"), std::string::npos);
}

TEST_F(SourceLine, AreMissingWhereAProgramDoesNotRepeatItself) {
  int runs = 0;
  Report const report = run(1, [&](int) {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    for (int i = 0; i < runs; ++i) cudaMemsetAsync(data, 0, bytes, a);
    ++runs;
    write_one<float, 64><<<1, 1, 0, a>>>(data);
    finish();
  });
  ASSERT_FALSE(report.ok());
  EXPECT_FALSE(report.violations[0].accesses[0].at.known());
  EXPECT_NE(report.unlocated.find("did not do the same again"), std::string::npos);
  EXPECT_NE(describe(report).find("source lines are missing: "), std::string::npos);
}

TEST_F(SourceLine, AreMissingWhereTheSecondRunDies) {
  bool first = true;
  Report const report = run(1, [&](int) {
    if (!first) std::_Exit(1);
    first = false;
    cudaStream_t const a = new_stream("a");
    write_one<float, 64><<<1, 1, 0, a>>>(on_device("data"));
    finish();
  });
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.unlocated.find("did not end by itself"), std::string::npos);
}

TEST_F(SourceLine, CostNoSecondOutput) {
  testing::internal::CaptureStdout();
  first_violation([&] {
    cudaStream_t const a = new_stream("a");
    write_one<float, 64><<<1, 1, 0, a>>>(on_device("data"));
    std::printf("once;");
    finish();
  });
  std::fflush(stdout);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "once;");
}

}  // namespace
}  // namespace adamant::sim
