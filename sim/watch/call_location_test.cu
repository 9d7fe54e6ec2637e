// At which lines other calls stand that a violation is about: those of other ranks, those that
// destroyed a handle, those that a graph captured, and the start of a group.
#include <cstring>
#include <functional>
#include <string>

#include "sim/testing/judging.h"
#include "sim/testing/marked_lines.h"
#include "sim/testing/ranks.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

class CallLine : public Judge {
 protected:
  Marks const marks{"sim/watch/call_location_test.cu"};
};

__global__ void write_first(float* to) {
  to[0] = 1;
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

TEST_F(CallLine, OfBothCallsOfACollectiveInWhichRanksDiffer) {
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
  EXPECT_EQ(place(found.at), marks.place("of_4"));
  EXPECT_EQ(related(found), marks.related("called", 0, "of_8"));
}

TEST_F(CallLine, OfACollectiveInAGroupAndNotOfTheGroupsEnd) {
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
  EXPECT_EQ(place(found.at), marks.place("root_1"));
  EXPECT_EQ(related(found), marks.related("called", 0, "root_0"));
}

TEST_F(CallLine, OfBothSidesOfAMessageThatDiffer) {
  Violation const found = of_difference(
      [](Rank& rank) {
        ncclSend(rank.device<float>(8), 8, ncclFloat, 1, rank.comm, rank.stream);  // <- sent_8
      },
      [](Rank& rank) {
        ncclRecv(rank.device<int>(8), 8, ncclInt, 0, rank.comm, rank.stream);  // <- received
      });
  ASSERT_EQ(found.law, Law::order_collective);
  EXPECT_EQ(place(found.at), marks.place("received"));
  EXPECT_EQ(related(found), marks.related("called", 0, "sent_8"));
}

TEST_F(CallLine, OfTheRankThatIsThereWhereAnotherComesAsTheSame) {
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
  EXPECT_EQ(place(found.at), marks.place("came_again"));
  EXPECT_EQ(related(found), marks.related("called", 0, "came"));
}

TEST_F(CallLine, OfWhatAGraphCapturedAndOfItsLaunch) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    float* const kernels = on_device("kernels");
    float* const copies = on_device("copies");
    float* const source = pinned("source");
    cudaGraphExec_t const graph = captured(a, [&] {
      write_first<<<1, 1, 0, a>>>(kernels);                               // <- kernel_held
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
    EXPECT_EQ(place(found.accesses[0].enqueued_at), marks.place("launched"));
    EXPECT_EQ(place(found.accesses[0].captured_at),
              marks.place(is_copy ? "copy_held" : "kernel_held"));
  }
}

TEST_F(CallLine, OfASettingThatAGraphHolds) {
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
  EXPECT_EQ(place(found.at), marks.place("launched_late"));
  EXPECT_EQ(related(found), marks.related("captured", 0, "held"));
}

__attribute__((noinline)) cudaGraphExec_t captured_copy_of_a_local(cudaStream_t a, float* to) {
  float const local[count] = {};
  return captured(a, [&] {
    cudaMemcpyAsync(to, local, bytes, cudaMemcpyHostToDevice, a);  // <- local_captured
  });
}

TEST_F(CallLine, OfACapturedCopyOfAVariableThatIsGone) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    cudaGraphExec_t const graph = captured_copy_of_a_local(a, data);
    cudaGraphLaunch(graph, a);  // <- local_used
    finish();
  });
  ASSERT_EQ(found.breach, Breach::returned_frame);
  EXPECT_EQ(place(found.at), marks.place("local_used"));
  EXPECT_EQ(related(found), marks.related("captured", 0, "local_captured"));
}

TEST_F(CallLine, OfCapturedCollectivesInWhichRanksDiffer) {
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
  EXPECT_EQ(place(found.at), marks.place("replayed"));
  EXPECT_EQ(related(found), marks.related("captured", 1, "in_graph") +
                                marks.related("called", 0, "replayed") +
                                marks.related("captured", 0, "in_graph"));
}

TEST_F(CallLine, OfACapturedCollectiveThatIsLeftOver) {
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
  EXPECT_EQ(place(found.at), marks.place("launched_alone"));
  EXPECT_EQ(related(found), marks.related("captured", 0, "never_met"));
}

TEST_F(CallLine, OfTheStartOfAGroupThatIsNeverEnded) {
  Violation const found = first_of(run_ranks(2, [](Rank& rank) {
    auto* const data = rank.device<float>(8);
    ncclGroupStart();  // <- opened
    ncclGroupStart();
    ncclAllReduce(data, data, 8, ncclFloat, ncclSum, rank.comm, rank.stream);
    ncclGroupEnd();
  }));
  ASSERT_EQ(found.breach, Breach::open_group);
  EXPECT_EQ(place(found.at), marks.place("opened"));
}

TEST_F(CallLine, OfTheStartOfAGroupInsideOfWhichARankWaits) {
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
  EXPECT_EQ(related(found), marks.related("opened", 0, "opened_too_early"));
}

TEST_F(CallLine, OfACollectiveInAGroupThatRaces) {
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
  EXPECT_NE(places.find(marks.place("grouped") + " "), std::string::npos) << places;
}

TEST_F(CallLine, OfWhereAStreamWasDestroyed) {
  Violation const found = first_violation([&] {
    cudaStream_t const a = new_stream("a");
    cudaStreamDestroy(a);      // <- stream_destroyed
    cudaStreamSynchronize(a);  // <- stream_used
  });
  ASSERT_EQ(found.law, Law::access_lifetime);
  EXPECT_EQ(place(found.at), marks.place("stream_used"));
  EXPECT_EQ(related(found), marks.related("destroyed", 0, "stream_destroyed"));
}

TEST_F(CallLine, OfWhereAnEventWasDestroyed) {
  Violation const found = first_violation([&] {
    cudaEvent_t const event = new_event();
    cudaEventDestroy(event);          // <- event_destroyed
    cudaEventRecord(event, nullptr);  // <- event_used
  });
  ASSERT_EQ(found.law, Law::access_lifetime);
  EXPECT_EQ(place(found.at), marks.place("event_used"));
  EXPECT_EQ(related(found), marks.related("destroyed", 0, "event_destroyed"));
}

TEST_F(CallLine, OfWhereAGraphAndWhatWasMadeOfItWereDestroyed) {
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
  EXPECT_EQ(place(report.violations[0].at), marks.place("graph_used"));
  EXPECT_EQ(related(report.violations[0]), marks.related("destroyed", 0, "graph_destroyed"));
  EXPECT_EQ(place(report.violations[1].at), marks.place("exec_used"));
  EXPECT_EQ(related(report.violations[1]), marks.related("destroyed", 0, "exec_destroyed"));
}

TEST_F(CallLine, OfWhereACommunicatorWasDestroyedOrAborted) {
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
  EXPECT_EQ(place(destroyed.at), marks.place("communicator_used"));
  EXPECT_EQ(related(destroyed), marks.related("destroyed", 0, "communicator_destroyed"));
  EXPECT_EQ(place(aborted.at), marks.place("communicator_used"));
  EXPECT_EQ(related(aborted), marks.related("destroyed", 0, "communicator_aborted"));
}

}  // namespace
}  // namespace adamant::sim
