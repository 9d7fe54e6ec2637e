// At which lines a violation happened: of the accesses, of the calls that enqueued them, and of
// those that made and freed the buffer. Each test breaks one rule and says the lines itself.
#include "sim/watch/watch.h"  // before names as short as those of test_program.h

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/ranks.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

using SourceLine = Judge;

std::string place(Location const& location) {
  return location.file + ":" + std::to_string(location.line);
}

std::string marked(std::string const& mark) {
  std::string const file = "sim/watch/location_test.cu";
  return file + ":" + std::to_string(marked_line(file, mark));
}

Violation first_of(Report const& report) {
  EXPECT_EQ(report.unlocated, "");
  return report.ok() ? Violation{} : report.violations.front();
}

Violation first_violation(std::function<void()> const& program, int ranks = 1) {
  return first_of(run(ranks, [&](int) { program(); }));
}

// What it says of other calls: what they did, by whom, where.
std::string related(Violation const& violation) {
  std::string text;
  for (Related const& call : violation.related)
    text += call.what + " by " + std::to_string(call.rank) + " at " + place(call.at) + "; ";
  return text;
}

std::string related(char const* what, int rank, char const* mark) {
  return std::string(what) + " by " + std::to_string(rank) + " at " + marked(mark) + "; ";
}

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
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("cleared_at_the_end"));
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
  EXPECT_EQ(place(store.at), marked("stored_at"));
  EXPECT_EQ(store.at.function, "store");
  EXPECT_EQ(place(store.enqueued_at), marked("first"));
  EXPECT_EQ(store.operation, "write_one<float, 1>");
  EXPECT_EQ(place(load.at), marked("loaded_at"));
  EXPECT_EQ(load.at.function, "read_one");
  EXPECT_EQ(place(load.enqueued_at), marked("second"));
  EXPECT_EQ(place(load.allocated_at), marked("allocated"));
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
  EXPECT_EQ(place(found.accesses[0].freed_at), marked("freed"));
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("used"));
  EXPECT_EQ(place(found.accesses[0].at), marked("stored_at"));
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
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("copied"));
  EXPECT_FALSE(found.accesses[0].at.known());
  EXPECT_EQ(place(found.accesses[1].at), marked("read"));
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
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("reduced"));
  EXPECT_FALSE(found.accesses[0].at.known());
  EXPECT_EQ(place(found.accesses[1].at), marked("moved"));
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
  EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("sent"));
  EXPECT_EQ(place(found.accesses[1].at), marked("written"));
}

TEST_F(SourceLine, OfEachOfTwoBlocks) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    write_one<float, 0><<<2, 1, 0, a>>>(data);
    finish();
  });
  ASSERT_EQ(found.accesses.size(), 2U);
  EXPECT_EQ(place(found.accesses[0].at), marked("stored_at"));
  EXPECT_EQ(place(found.accesses[1].at), marked("stored_at"));
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
  EXPECT_EQ(place(found.at), marked("called"));
}

TEST_F(SourceLine, OfWhereEachRankWaitsInADeadlock) {
  Violation const found = first_violation(
      [&] {
        if (current_rank() == 0) barrier();  // <- waited
      },
      2);
  ASSERT_EQ(found.law, Law::order_deadlock);
  EXPECT_EQ(place(found.at), marked("waited"));
  ASSERT_EQ(found.waiting.size(), 1U);
  EXPECT_EQ(found.waiting[0].rank, 0);
  EXPECT_EQ(place(found.waiting[0].at), marked("waited"));
}

// What comes first is the schedule's choice: ranks take turns by the barriers.
Violation of_difference(std::function<void(Rank&)> const& first,
                        std::function<void(Rank&)> const& second) {
  return first_of(run_ranks(2, [&](Rank& rank) {
    if (rank.index == 0) first(rank);
    barrier();
    if (rank.index == 1) second(rank);
    barrier();
  }));
}

TEST_F(SourceLine, OfBothCallsOfACollectiveInWhichRanksDiffer) {
  Violation const found = of_difference(
      [](Rank& rank) {
        auto* const data = rank.device<float>(8);
        ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);  // <- of_8
      },
      [](Rank& rank) {
        auto* const data = rank.device<float>(8);
        ncclAllReduce(data, data, 4, ncclFloat, ncclSum, rank.comm, rank.stream);  // <- of_4
      });
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(place(found.at), marked("of_4"));
  EXPECT_EQ(related(found), related("called", 0, "of_8"));
}

TEST_F(SourceLine, OfACollectiveInAGroupAndNotOfTheGroupsEnd) {
  Violation const found = of_difference(
      [](Rank& rank) {
        auto* const data = rank.device<float>(8);
        ncclGroupStart();
        ncclBroadcast(data, data, 8, ncclFloat, 0, rank.comm, rank.stream);  // <- root_0
        ncclGroupEnd();
      },
      [](Rank& rank) {
        auto* const data = rank.device<float>(8);
        ncclGroupStart();
        ncclBroadcast(data, data, 8, ncclFloat, 1, rank.comm, rank.stream);  // <- root_1
        ncclGroupEnd();
      });
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(place(found.at), marked("root_1"));
  EXPECT_EQ(related(found), related("called", 0, "root_0"));
}

TEST_F(SourceLine, OfBothSidesOfAMessageThatDiffer) {
  Violation const found = of_difference(
      [](Rank& rank) {
        ncclSend(rank.device<float>(8), 8, ncclFloat, 1, rank.comm, rank.stream);  // <- sent_8
      },
      [](Rank& rank) {
        ncclRecv(rank.device<int>(8), 8, ncclInt, 0, rank.comm, rank.stream);  // <- received
      });
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(place(found.at), marked("received"));
  EXPECT_EQ(related(found), related("called", 0, "sent_8"));
}

TEST_F(SourceLine, OfTheRankThatIsThereWhereAnotherComesAsTheSame) {
  ncclUniqueId id;
  Violation const found = first_of(run(2, [&](int rank) {
    ncclComm_t communicator = nullptr;
    if (rank == 0) ncclGetUniqueId(&id);
    barrier();
    ncclGroupStart();
    if (rank == 0) ncclCommInitRank(&communicator, 2, id, 0);  // <- came
    barrier();
    if (rank == 1) ncclCommInitRank(&communicator, 2, id, 0);  // <- came_again
    ncclGroupEnd();
  }));
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(place(found.at), marked("came_again"));
  EXPECT_EQ(related(found), related("called", 0, "came"));
}

TEST_F(SourceLine, OfWhatAGraphCapturedAndOfItsLaunch) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    float* const kernels = on_device("kernels");
    float* const copies = on_device("copies");
    float* const source = pinned("source");
    cudaGraphExec_t const graph = captured(a, [&] {
      write_one<float, 0><<<1, 1, 0, a>>>(kernels);                       // <- kernel_held
      cudaMemcpyAsync(copies, source, bytes, cudaMemcpyHostToDevice, a);  // <- copy_held
    });
    cudaFree(kernels);
    cudaFree(copies);
    cudaGraphLaunch(graph, a);  // <- launched
    finish();
  });
  ASSERT_EQ(report.violations.size(), 2U) << describe(report);
  for (Violation const& found : report.violations) {
    bool const is_copy = found.accesses[0].name == "cudaMemcpyAsync";
    ASSERT_EQ(found.law, Law::graph_pointer);
    EXPECT_EQ(place(found.accesses[0].enqueued_at), marked("launched"));
    EXPECT_EQ(place(found.accesses[0].captured_at), marked(is_copy ? "copy_held" : "kernel_held"));
  }
}

TEST_F(SourceLine, OfASettingThatAGraphHolds) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    note_setting("lr", 0.1F);
    cudaGraphExec_t const graph = captured(a, [&] {
      fill<<<1, 1, 0, a>>>(data, 1, 0.1F);  // <- held
    });
    note_setting("lr", 0.2F);
    cudaGraphLaunch(graph, a);  // <- launched_late
    finish();
  });
  ASSERT_EQ(found.law, Law::graph_scalar);
  EXPECT_EQ(place(found.at), marked("launched_late"));
  EXPECT_EQ(related(found), related("captured", 0, "held"));
}

__attribute__((noinline)) cudaGraphExec_t captured_copy_of_a_local(cudaStream_t a, float* to) {
  float const local[count] = {};
  return captured(a, [&] {
    cudaMemcpyAsync(to, local, bytes, cudaMemcpyHostToDevice, a);  // <- local_captured
  });
}

TEST_F(SourceLine, OfACapturedCopyOfAVariableThatIsGone) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    cudaGraphExec_t const graph = captured_copy_of_a_local(a, data);
    cudaGraphLaunch(graph, a);  // <- local_used
    finish();
  });
  ASSERT_EQ(found.breach, Breach::returned_frame);
  EXPECT_EQ(place(found.at), marked("local_used"));
  EXPECT_EQ(related(found), related("captured", 0, "local_captured"));
}

TEST_F(SourceLine, OfCapturedCollectivesInWhichRanksDiffer) {
  auto const reduce = [](Rank& rank, std::size_t numel) {
    auto* const data = rank.device<float>(8);
    cudaGraphExec_t const graph = captured(rank.stream, [&] {
      ncclGroupStart();
      ncclAllReduce(data, data, numel, ncclFloat, ncclSum, rank.comm, rank.stream);  // <- in_graph
      ncclGroupEnd();
    });
    cudaGraphLaunch(graph, rank.stream);  // <- replayed
  };
  Violation const found =
      of_difference([&](Rank& rank) { reduce(rank, 8); }, [&](Rank& rank) { reduce(rank, 4); });
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(place(found.at), marked("replayed"));
  EXPECT_EQ(related(found), related("captured", 1, "in_graph") + related("called", 0, "replayed") +
                                related("captured", 0, "in_graph"));
}

TEST_F(SourceLine, OfACapturedCollectiveThatIsLeftOver) {
  ncclUniqueId id;
  Violation const found = first_of(run(2, [&](int rank) {
    ncclComm_t communicator = nullptr;
    if (rank == 0) ncclGetUniqueId(&id);
    barrier();
    ncclCommInitRank(&communicator, 2, id, rank);
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    cudaGraphExec_t const graph = captured(a, [&] {
      ncclAllReduce(data, data, 8, ncclFloat, ncclSum, communicator, a);  // <- never_met
    });
    if (rank == 0) cudaGraphLaunch(graph, a);  // <- launched_alone
  }));
  ASSERT_EQ(found.breach, Breach::left_over);
  EXPECT_EQ(place(found.at), marked("launched_alone"));
  EXPECT_EQ(related(found), related("captured", 0, "never_met"));
}

TEST_F(SourceLine, OfTheStartOfAGroupThatIsNeverEnded) {
  Violation const found = first_of(run_ranks(1, [](Rank& rank) {
    auto* const data = rank.device<float>(8);
    ncclGroupStart();  // <- opened
    ncclGroupStart();
    ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);
    ncclGroupEnd();
  }));
  ASSERT_EQ(found.breach, Breach::open_group);
  EXPECT_EQ(place(found.at), marked("opened"));
}

TEST_F(SourceLine, OfTheStartOfAGroupInsideOfWhichARankWaits) {
  Violation const found = first_of(run_ranks(2, [](Rank& rank) {
    auto* const data = rank.device(std::vector<float>(8, 1.0F));
    ncclGroupStart();
    ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);
    ncclGroupEnd();
    if (rank.index == 0) ncclGroupStart();  // <- opened_too_early
    ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);
    if (rank.index == 1) cudaStreamSynchronize(rank.stream);
    barrier();
  }));
  ASSERT_EQ(found.law, Law::order_deadlock);
  EXPECT_NE(found.message.find("rank 0, inside of what ncclGroupStart opened, waits in barrier()"),
            std::string::npos)
      << found.message;
  EXPECT_EQ(related(found), related("opened", 0, "opened_too_early"));
}

TEST_F(SourceLine, OfACollectiveInAGroupThatRaces) {
  Violation const found = first_of(run_ranks(1, [](Rank& rank) {
    cudaStream_t const a = new_stream("a");
    auto* const data = rank.device(std::vector<float>(8, 1.0F));
    cudaStreamSynchronize(rank.stream);
    ncclGroupStart();
    ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);  // <- grouped
    ncclGroupEnd();
    cudaMemsetAsync(data, 0, bytes / 2, a);
    finish();
  }));
  ASSERT_EQ(found.law, Law::order_race);
  std::string places;
  for (Access const& access : found.accesses) places += place(access.enqueued_at) + " ";
  EXPECT_NE(places.find(marked("grouped") + " "), std::string::npos) << places;
}

TEST_F(SourceLine, OfWhereAStreamWasDestroyed) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaStreamDestroy(a);      // <- stream_destroyed
    cudaStreamSynchronize(a);  // <- stream_used
  });
  ASSERT_EQ(found.law, Law::access_lifetime);
  EXPECT_EQ(place(found.at), marked("stream_used"));
  EXPECT_EQ(related(found), related("destroyed", 0, "stream_destroyed"));
}

TEST_F(SourceLine, OfWhereAnEventWasDestroyed) {
  Violation const found = first_violation([&] {
    cudaEvent_t const event = new_event();
    cudaEventDestroy(event);          // <- event_destroyed
    cudaEventRecord(event, nullptr);  // <- event_used
  });
  ASSERT_EQ(found.law, Law::access_lifetime);
  EXPECT_EQ(place(found.at), marked("event_used"));
  EXPECT_EQ(related(found), related("destroyed", 0, "event_destroyed"));
}

TEST_F(SourceLine, OfWhereAGraphAndWhatWasMadeOfItWereDestroyed) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&exec, graph, 0);
    cudaGraphDestroy(graph);                // <- graph_destroyed
    cudaGraphInstantiate(&exec, graph, 0);  // <- graph_used
    cudaGraphExecDestroy(exec);             // <- exec_destroyed
    cudaGraphLaunch(exec, a);               // <- exec_used
  });
  ASSERT_EQ(report.violations.size(), 2U) << describe(report);
  EXPECT_EQ(place(report.violations[0].at), marked("graph_used"));
  EXPECT_EQ(related(report.violations[0]), related("destroyed", 0, "graph_destroyed"));
  EXPECT_EQ(place(report.violations[1].at), marked("exec_used"));
  EXPECT_EQ(related(report.violations[1]), related("destroyed", 0, "exec_destroyed"));
}

TEST_F(SourceLine, OfWhereACommunicatorWasDestroyedOrAborted) {
  auto const use_after = [](std::function<void(ncclComm_t)> const& end) {
    return first_of(run_ranks(1, [&](Rank& rank) {
      int ranks = 0;
      end(rank.comm);
      ncclCommCount(rank.comm, &ranks);  // <- communicator_used
      rank.comm = nullptr;
    }));
  };
  Violation const destroyed = use_after([](ncclComm_t communicator) {
    ncclCommDestroy(communicator);  // <- communicator_destroyed
  });
  Violation const aborted = use_after([](ncclComm_t communicator) {
    ncclCommAbort(communicator);  // <- communicator_aborted
  });
  EXPECT_EQ(place(destroyed.at), marked("communicator_used"));
  EXPECT_EQ(related(destroyed), related("destroyed", 0, "communicator_destroyed"));
  EXPECT_EQ(place(aborted.at), marked("communicator_used"));
  EXPECT_EQ(related(aborted), related("destroyed", 0, "communicator_aborted"));
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
