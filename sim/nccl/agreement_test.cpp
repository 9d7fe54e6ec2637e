// What ranks must agree on in one call, each of it alone: where they do not, it is reported.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <algorithm>
#include <functional>

#include "sim/testing/judging.h"
#include "sim/testing/ranks.h"

namespace adamant::sim {
namespace {

class NcclAgreement : public Judge {};

using Issue = std::function<void(Rank&, int* buffer)>;

Report run_apart(Issue const& first, Issue const& second) {
  return run_ranks(2, [&](Rank& rank) {
    int* const buffer = rank.device(std::vector<int>(8, 1));
    (rank.index == 0 ? first : second)(rank, buffer);
    cudaStreamSynchronize(rank.stream);
  });
}

bool is_told(Report const& report) {
  return std::ranges::any_of(report.violations, [](Violation const& violation) {
    return violation.law == Law::order_collective;
  });
}

/// Alike on both ranks neither is anything to report; one here and the other there is.
void expect_apart(Issue const& first, Issue const& second) {
  EXPECT_TRUE(run_apart(first, first).ok()) << describe(run_apart(first, first));
  EXPECT_TRUE(run_apart(second, second).ok()) << describe(run_apart(second, second));
  for (Report const& report : {run_apart(first, second), run_apart(second, first)})
    EXPECT_TRUE(is_told(report)) << describe(report);
}

Issue all_reduce(std::size_t count, ncclDataType_t type, ncclRedOp_t operation) {
  return [=](Rank& rank, int* buffer) {
    ncclAllReduce(buffer, buffer, count, type, operation, rank.comm, rank.stream);
  };
}

Issue reduce(ncclRedOp_t operation, int root) {
  return [=](Rank& rank, int* buffer) {
    ncclReduce(buffer, buffer, 1, ncclInt, operation, root, rank.comm, rank.stream);
  };
}

Issue reduce_scatter(ncclRedOp_t operation) {
  return [=](Rank& rank, int* buffer) {
    ncclReduceScatter(buffer, buffer + 4, 1, ncclInt, operation, rank.comm, rank.stream);
  };
}

Issue broadcast(int root) {
  return [=](Rank& rank, int* buffer) {
    ncclBroadcast(buffer, buffer, 1, ncclInt, root, rank.comm, rank.stream);
  };
}

Issue gather(std::size_t count, ncclDataType_t type) {
  return [=](Rank& rank, int* buffer) {
    ncclAllGather(buffer, buffer + 2, count, type, rank.comm, rank.stream);
  };
}

TEST_F(NcclAgreement, IsOfTheOperation) {
  for (ncclRedOp_t const other : {ncclMax, ncclMin, ncclProd, ncclAvg}) {
    expect_apart(all_reduce(1, ncclInt, ncclSum), all_reduce(1, ncclInt, other));
    expect_apart(reduce(ncclSum, 0), reduce(other, 0));
    expect_apart(reduce_scatter(ncclSum), reduce_scatter(other));
  }
}

TEST_F(NcclAgreement, IsOfTheRoot) {
  expect_apart(reduce(ncclSum, 0), reduce(ncclSum, 1));
  expect_apart(broadcast(0), broadcast(1));
}

TEST_F(NcclAgreement, IsOfTheTypeAlsoWhereBytesAreAsMany) {
  expect_apart(all_reduce(1, ncclInt, ncclSum), all_reduce(1, ncclFloat, ncclSum));
  expect_apart(gather(1, ncclInt), gather(1, ncclFloat));
}

TEST_F(NcclAgreement, IsOfTheCount) {
  expect_apart(all_reduce(1, ncclInt, ncclSum), all_reduce(2, ncclInt, ncclSum));
  expect_apart(gather(1, ncclInt), gather(2, ncclInt));
}

TEST_F(NcclAgreement, OfAMessageIsOfBothSides) {
  auto const send = [](std::size_t count, ncclDataType_t type) -> Issue {
    return
        [=](Rank& rank, int* buffer) { ncclSend(buffer, count, type, 1, rank.comm, rank.stream); };
  };
  auto const receive = [](std::size_t count, ncclDataType_t type) -> Issue {
    return
        [=](Rank& rank, int* buffer) { ncclRecv(buffer, count, type, 0, rank.comm, rank.stream); };
  };
  EXPECT_TRUE(run_apart(send(2, ncclInt), receive(2, ncclInt)).ok());
  for (Issue const& other : {receive(1, ncclInt), receive(2, ncclFloat)}) {
    Report const report = run_apart(send(2, ncclInt), other);
    EXPECT_TRUE(is_told(report)) << describe(report);
  }
}

}  // namespace
}  // namespace adamant::sim
