// What is missing on machines that are not here, and who carries the collectives on them.
#include "scenarios/engines/cuda/machine.h"

#include <gtest/gtest.h>

#include "real/testing/shared_gpus.h"

namespace adamant::scenarios {
namespace {

Machine good() {
  return {.gpus = {90}, .driver = 13010, .runtime = 13000, .nccl = 22809, .built_nccl = 22809};
}

TEST(Machine, ThatHasEverythingLacksNothing) {
  EXPECT_EQ(lacks(good()), "");
  EXPECT_EQ(found(good()),
            "1 GPU of compute capability 9.0, driver for CUDA 13.1, built with CUDA 13.0, NCCL "
            "2.28.9; worlds of more ranks than GPUs use the loop-back");
  Machine newer = good();
  newer.gpus = {100, 90};
  newer.driver = 14000;
  newer.nccl = 23203;
  EXPECT_EQ(lacks(newer), "");
  EXPECT_NE(found(newer).find("2 GPUs of compute capability 9.0"), std::string::npos);
  EXPECT_NE(found(newer).find("than GPUs use NCCL"), std::string::npos);
}

TEST(Machine, WithoutADriverIsToldToInstallOne) {
  Machine machine = good();
  machine.gpus.clear();
  machine.driver = 0;
  machine.error = "cudaErrorInsufficientDriver";
  EXPECT_EQ(lacks(machine),
            "no NVIDIA driver was found; engine cuda needs a GPU of compute capability 9.0 or "
            "newer and a driver for CUDA 13.0 or newer: install it, and see that `nvidia-smi` "
            "lists the GPU");
}

TEST(Machine, WithADriverOlderThanTheToolkitIsToldToUpdateIt) {
  Machine machine = good();
  machine.gpus.clear();
  machine.driver = 12040;
  machine.error = "cudaErrorInsufficientDriver";
  EXPECT_EQ(lacks(machine),
            "the driver knows CUDA 12.4 alone, and this program was built with CUDA 13.0; it needs "
            "a driver for CUDA 13.0 or newer: update the driver");
}

TEST(Machine, ADriverOfTheToolkitsOwnMajorVersionWillDo) {
  Machine machine = good();
  machine.runtime = 13050;
  machine.driver = 13000;
  EXPECT_EQ(lacks(machine), "");
}

TEST(Machine, WithoutAGpuIsToldWhereToLook) {
  Machine machine = good();
  machine.gpus.clear();
  EXPECT_NE(lacks(machine).find("shows no GPU"), std::string::npos);
  EXPECT_NE(lacks(machine).find("CUDA_VISIBLE_DEVICES"), std::string::npos);
  machine.error = "cudaErrorSystemDriverMismatch";
  EXPECT_NE(lacks(machine).find("answers with cudaErrorSystemDriverMismatch"), std::string::npos);
  EXPECT_NE(lacks(machine).find("needs a GPU"), std::string::npos);
}

TEST(Machine, WithAGpuThatIsTooOldIsToldWhich) {
  Machine machine = good();
  machine.gpus = {90, 80};
  EXPECT_EQ(lacks(machine),
            "GPU 1 has compute capability 8.0, and this program was built for 9.0 and newer: use "
            "another GPU, or name those that are new enough in CUDA_VISIBLE_DEVICES");
}

TEST(Machine, WithANcclOlderThanTheBuildsIsToldToPutAnotherFirst) {
  Machine machine = good();
  machine.nccl = 21805;
  EXPECT_EQ(lacks(machine),
            "NCCL 2.18.5 was loaded, and this program was built with 2.28.9; it needs that or a "
            "newer one: put its libnccl.so.2 first in LD_LIBRARY_PATH");
}

TEST(Machine, GivesEachRankAGpuWhereThereAreEnough) {
  Machine machine = good();
  machine.gpus = {90, 90, 90};
  Placement const placement = place(machine, 3);
  EXPECT_FALSE(placement.loopback);
  EXPECT_EQ(placement.devices, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(captured_ranks_max(machine), 3);
}

TEST(Machine, SharesGpusByTheLoopbackWhereNcclCannot) {
  Machine machine = good();
  machine.gpus = {90, 90};
  Placement const placement = place(machine, 3);
  EXPECT_TRUE(placement.loopback);
  EXPECT_EQ(placement.devices, (std::vector<int>{0, 0, 0})) << "kernels read their own GPU alone";
}

TEST(Machine, SharesGpusInTurnWhereNcclCan) {
  Machine machine = good();
  machine.gpus = {90, 90};
  machine.nccl = 23000;
  Placement const placement = place(machine, 5);
  EXPECT_FALSE(placement.loopback);
  EXPECT_EQ(placement.devices, (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(captured_ranks_max(machine), 2 * real::ranks_of_gpu_max);
  EXPECT_FALSE(place(machine, 2 * real::ranks_of_gpu_max).loopback);
  EXPECT_TRUE(place(machine, 2 * real::ranks_of_gpu_max + 1).loopback) << "too many queues";
}

TEST(Machine, GoesOverAPipe) {
  Machine machine = good();
  EXPECT_EQ(machine_from(to_line(machine)), machine);
  machine.gpus = {};
  machine.error = "no answer within 60 s";
  EXPECT_EQ(machine_from(to_line(machine)), machine);
}

}  // namespace
}  // namespace adamant::scenarios
