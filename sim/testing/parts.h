// For tests of several communicators: what every rank of a run has beside its own of all ranks.
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <nccl.h>

#include <functional>
#include <string>
#include <vector>

#include "sim/testing/ranks.h"

namespace adamant::sim {

/// Of the ranks with this colour, in the order of the parent's.
inline ncclComm_t part_of(Rank& rank, int color) {
  ncclComm_t part = nullptr;
  EXPECT_EQ(ncclCommSplit(rank.comm, color, 0, &part, nullptr), ncclSuccess);
  return part;
}

/// Ranks 0 and 1, 2 and 3 in rows of two; 0 and 2, 1 and 3 in columns.
struct Mesh {
  explicit Mesh(Rank& rank)
      : row(part_of(rank, rank.index / 2)), column(part_of(rank, rank.index % 2)) {}
  ncclComm_t row;
  ncclComm_t column;
};

/// Two that have the same ranks, numbers 1 and 2.
struct Twins {
  explicit Twins(Rank& rank) : a(part_of(rank, 0)), b(part_of(rank, 0)) {}
  ncclComm_t a;
  ncclComm_t b;
};

inline void sum(int* value, ncclComm_t comm, cudaStream_t stream) {
  ncclAllReduce(value, value, 1, ncclInt, ncclSum, comm, stream);
}

inline void destroy(std::vector<ncclComm_t> const& all) {
  for (ncclComm_t const comm : all) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

inline std::string only_message(Report const& report, Law law) {
  EXPECT_EQ(report.violations.size(), 1U) << describe(report);
  if (report.violations.empty()) return "";
  EXPECT_EQ(report.violations[0].law, law) << describe(report);
  return report.violations[0].message;
}

inline cudaGraphExec_t graph_of(cudaStream_t stream, std::function<void()> const& enqueue) {
  EXPECT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  enqueue();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  return exec;
}

}  // namespace adamant::sim
