#include "real/cuda/launch.h"

#include <gtest/gtest.h>

#include "real/cuda/error.h"
#include "real/testing/ranks.h"

namespace adamant::real {
namespace {

__global__ void store_seven(int* to) {
  *to = 7;
}

TEST(Launch, ThatTheRuntimeRefusesThrowsAndStopsNothingElse) {
  ADAMANT_NEEDS(1, Devices::shared);
  run_ranks(1, Devices::shared, [](RankContext const&) {
    Stream const stream;
    int* value = nullptr;
    ADAMANT_TRY(cudaMallocHost(&value, sizeof *value));
    *value = 1;
    EXPECT_THROW(launch(store_seven, dim3(0), stream, value), CudaError);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess) << "who threw has told of it";
    launch(store_seven, dim3(1), stream, value);
    ADAMANT_TRY(cudaStreamSynchronize(stream.get()));
    EXPECT_EQ(*value, 7);
    ADAMANT_TRY(cudaFreeHost(value));
  });
}

}  // namespace
}  // namespace adamant::real
