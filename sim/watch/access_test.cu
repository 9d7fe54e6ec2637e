// Accesses outside of buffers, of bytes that nobody wrote, and from where they are not allowed.
#include <cuda_runtime.h>
#include <nccl.h>

#include <vector>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

__global__ void write_at(float* to, int index) {
  to[index] = 1.0F;
}
__global__ void read_at(float* to, float const* from, int index) {
  *to = from[index];
}

/// `index` is one off, `right_index` just inside.
void judge_write(int index, int right_index, std::int64_t begin) {
  judge(
      [=](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        write_at<<<1, 1, 0, a>>>(data, right ? right_index : index);
        finish();
      },
      {Law::access_bounds, {{"write_at", "a", "write"}}, begin, begin + 4});
}

void judge_read(int index, int right_index, std::int64_t begin) {
  judge(
      [=](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const other = on_device("other");
        float* const data = on_device("data");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        read_at<<<1, 1, 0, a>>>(other, data, right ? right_index : index);
        finish();
      },
      {Law::access_bounds, {{"read_at", "a", "read"}}, begin, begin + 4});
}

TEST_F(Judge, FindsAWriteOneElementPastTheEnd) {
  judge_write(count, count - 1, bytes);
}
TEST_F(Judge, FindsAReadOneElementPastTheEnd) {
  judge_read(count, count - 1, bytes);
}
TEST_F(Judge, FindsAReadFarPastTheEnd) {
  judge_read(1 << 29, 0, std::int64_t{4} << 29);
}

struct Figure {
  __device__ virtual int sides() const = 0;
};
struct Square : Figure {
  __device__ int sides() const override { return 4; }
};
__global__ void construct(Square* at) {
  new (at) Square;
}
__global__ void ask(Figure const* figure, int* to) {
  *to = figure->sides();
}

// Which functions an object has is a number in its memory as any other.
TEST_F(Judge, SeesWhereAnObjectWithVirtualFunctionsIs) {
  for (bool const right : {false, true}) {
    Report const report = run(1, [=](int) {
      Square* square = nullptr;
      int* sides = nullptr;
      cudaMalloc(&square, sizeof(Square));
      cudaMalloc(&sides, sizeof(int));
      if (right) construct<<<1, 1>>>(square);
      if (!right) construct<<<1, 1>>>(square + 1);
      if (right) ask<<<1, 1>>>(square, sides);
      finish();
    });
    ASSERT_EQ(report.ok(), right) << describe(report);
    if (right) continue;
    EXPECT_EQ(report.violations[0].law, Law::access_bounds);
    EXPECT_EQ(report.violations[0].accesses.at(0).begin, 8);
  }
}

TEST_F(Judge, FindsAWriteOneElementBeforeTheBeginning) {
  judge_write(-1, 0, -4);
}
TEST_F(Judge, FindsAReadOneElementBeforeTheBeginning) {
  for (bool const right : {false, true}) {
    Report const report = run(1, [=](int) {
      float* const other = on_device("other");
      float* const data = on_device("data");
      fill<<<1, 1>>>(data, count, 1.0F);
      read_at<<<1, 1>>>(other, data, right ? 0 : -1);
      finish();
    });
    ASSERT_EQ(report.ok(), right) << describe(report);
    if (right) continue;
    EXPECT_EQ(report.violations[0].law, Law::access_bounds);
  }
}

TEST_F(Judge, NamesTheBufferThatAnAccessLiesBefore) {
  Report const report = run(1, [](int) {
    float* const data = on_device("data");
    write_at<<<1, 1>>>(data, -4);
    finish();
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  Violation const& found = report.violations[0];
  EXPECT_EQ(found.message, "write 16 bytes before data (allocation 0, 64 bytes)");
  EXPECT_EQ(found.accesses[0].begin, -16);
  EXPECT_EQ(found.accesses[0].end, -12);
  EXPECT_TRUE(found.accesses[0].at.known());
  EXPECT_TRUE(found.accesses[0].allocated_at.known());
  EXPECT_NE(describe(report).find("write of bytes -16 to -12 of data"), std::string::npos);
}

TEST_F(Judge, FindsAVectorThatRunsOverTheEnd) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        float* const host = pinned("host");
        cudaMemcpyAsync(data, host, bytes, cudaMemcpyHostToDevice, a);
        cudaMemcpyAsync(data + 1, host, right ? bytes - 4 : bytes, cudaMemcpyHostToDevice, a);
        finish();
      },
      {Law::access_bounds, {{"cudaMemcpyAsync of 64 bytes", "a", "write"}}, 4, bytes + 4});
}

TEST_F(Judge, FindsAFillThatIsTooLong) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        cudaMemsetAsync(on_device("data"), 0, right ? bytes : bytes + 1, a);
        finish();
      },
      {Law::access_bounds, {{"cudaMemsetAsync of 65 bytes", "a", "write"}}, 0, bytes + 1});
}

TEST_F(Judge, FindsAKernelThatReadsWhatNobodyWrote) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        fill<<<1, 1, 0, a>>>(data, right ? count : count - 1, 1.0F);
        sum<<<1, 1, 0, a>>>(on_device("total"), data, count);
        finish();
      },
      {Law::access_uninitialized, {{"sum", "a", "read"}}, bytes - 4, bytes});
}

TEST_F(Judge, FindsACopyOfWhatNobodyWrote) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* const data = on_device("data");
        fill<<<1, 1, 0, a>>>(data, right ? count : 12, 1.0F);
        cudaMemcpyAsync(on_device("other"), data, bytes, cudaMemcpyDeviceToDevice, a);
        finish();
      },
      {Law::access_uninitialized, {{"cudaMemcpyAsync of 64 bytes", "a", "read"}}, 48, bytes});
}

struct PinnedAnswers {
  int device;
  int version;
  float* memory;
  std::size_t free;
  std::size_t total;
  cudaStream_t stream;
  cudaEvent_t event;
  cudaPointerAttributes attributes;
  ncclUniqueId id;
  ncclComm_t comm;
  int ranks;
};

// What a call answers is written, also where the place for it is pinned memory.
TEST_F(Judge, KnowsWhatCallsWriteIntoPinnedMemory) {
  judge(
      [](bool right) {
        PinnedAnswers* answers = nullptr;
        cudaMallocHost(reinterpret_cast<void**>(&answers), sizeof(PinnedAnswers));
        cudaGetDevice(&answers->device);
        cudaRuntimeGetVersion(&answers->version);
        cudaMalloc(&answers->memory, 16);
        cudaMemGetInfo(&answers->free, &answers->total);
        cudaStreamCreate(&answers->stream);
        cudaEventCreate(&answers->event);
        if (right) cudaPointerGetAttributes(&answers->attributes, answers->memory);
        ncclGetUniqueId(&answers->id);
        ncclCommInitRank(&answers->comm, 1, answers->id, 0);
        ncclCommCount(answers->comm, &answers->ranks);
        int const known = answers->device + answers->version + answers->ranks +
                          static_cast<int>(answers->free + answers->total) +
                          answers->attributes.device;
        if (known == 0) cudaDeviceSynchronize();
        ncclCommDestroy(answers->comm);
        cudaEventDestroy(answers->event);
        cudaStreamDestroy(answers->stream);
        cudaFree(answers->memory);
        cudaFreeHost(answers);
      },
      {Law::access_uninitialized,
       {{"host code", "host", "read"}},
       offsetof(PinnedAnswers, attributes) + offsetof(cudaPointerAttributes, device),
       offsetof(PinnedAnswers, attributes) + offsetof(cudaPointerAttributes, device) +
           sizeof(int)});
}

TEST_F(Judge, ForgetsWhatWasWrittenBeforeAFree) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float* data = on_device("first");
        fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        finish();
        cudaFree(data);
        data = on_device("second");
        if (right) fill<<<1, 1, 0, a>>>(data, count, 1.0F);
        read_at<<<1, 1, 0, a>>>(on_device("total"), data, 5);
        finish();
      },
      {Law::access_uninitialized, {{"read_at", "a", "read"}}, 20, 24});
}

TEST_F(Judge, FindsAKernelThatReachesAnotherDeviceWithoutPeerAccess) {
  static float* remote = nullptr;
  judge(
      [](bool right) {
        if (current_rank() == 1) remote = on_device("remote");
        barrier();
        if (current_rank() == 0) {
          cudaStream_t const a = new_stream("a");
          if (right) cudaDeviceEnablePeerAccess(1, 0);
          fill<<<1, 1, 0, a>>>(remote, 1, 1.0F);
          finish();
        }
        barrier();
      },
      {Law::access_place, {{"fill", "a", "write"}}, 0, 4, /*ranks=*/2});
}

TEST_F(Judge, FindsAHostThatDereferencesADevicePointer) {
  judge(
      [](bool right) {
        float* const data = on_device("data");
        cudaMemset(data, 0, bytes);
        cudaDeviceSynchronize();
        float seen = 0;
        if (right) {
          cudaMemcpy(&seen, data, sizeof seen, cudaMemcpyDeviceToHost);
        } else {
          float const volatile* const from = data;
          seen = from[0];
        }
        static_cast<void>(seen);
      },
      {Law::access_place, {{"host code", "host", "read"}}, 0, 4});
}

cudaError_t answer = cudaSuccess;
void call_cuda(void*) {
  answer = cudaDeviceSynchronize();
}

TEST_F(Judge, RefusesCallsFromAHostFunction) {
  Report const report = run(1, [](int) {
    cudaStream_t const a = new_stream("a");
    cudaLaunchHostFunc(a, call_cuda, nullptr);
    cudaStreamSynchronize(a);
  });
  EXPECT_EQ(answer, cudaErrorNotPermitted);
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_F(Judge, DescribesALoopOverUnwrittenElementsOnce) {
  Report const report = run(1, [](int) {
    float* const data = on_device("data");
    sum<<<1, 1>>>(on_device("total"), data, count);
    finish();
  });
  EXPECT_EQ(report.violations.size(), 1U) << describe(report);
}

TEST_F(Judge, FindsAKernelOnTheHeapOfTheHost) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        std::vector<float> values(count);
        if (right) cudaHostRegister(values.data(), bytes, cudaHostRegisterDefault);
        fill<<<1, 1, 0, a>>>(values.data(), 1, 1.0F);
        cudaStreamSynchronize(a);
        if (right) cudaHostUnregister(values.data());
      },
      {Law::access_place, {{"fill", "a", "write"}}, 0, 4});
}

TEST_F(Judge, FindsAKernelOnTheStackOfTheHost) {
  judge(
      [](bool right) {
        cudaStream_t const a = new_stream("a");
        float value = 1.0F;
        float* const copy = on_device("copy");
        cudaMemcpy(copy, &value, sizeof value, cudaMemcpyHostToDevice);
        cudaDeviceSynchronize();
        sum<<<1, 1, 0, a>>>(copy, right ? copy : &value, 1);
        cudaStreamSynchronize(a);
      },
      {Law::access_place, {{"sum", "a", "read"}}, 0, 4});
}

/// As much as the arguments of a launch can be, kept by the simulator until the kernel runs.
struct Large {
  float values[900] = {};
};
__global__ void sum_large(float* to, Large large) {
  for (float& value : large.values) {
    value += 1.0F;
    *to += value;
  }
}

__global__ void sum_of_indices(float* to) {
  extern __shared__ float parts[];
  parts[threadIdx.x] = static_cast<float>(threadIdx.x);
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (unsigned i = 0; i < blockDim.x; ++i) *to += parts[i];
}

TEST_F(Judge, LetsAKernelUseItsArgumentsItsStackAndItsSharedMemory) {
  Report const report = explore(
      1,
      [](int) {
        cudaStream_t const a = new_stream("a");
        float* const total = on_device("total");
        fill<<<1, 1, 0, a>>>(total, 1, 0.0F);
        sum_large<<<1, 1, 0, a>>>(total, Large{});
        sum_of_indices<<<1, 4, 4 * sizeof(float), a>>>(total);
        cudaStreamSynchronize(a);
      },
      5);
  EXPECT_TRUE(report.ok()) << describe(report);
}

}  // namespace
}  // namespace adamant::sim
