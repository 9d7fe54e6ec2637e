// Programs that break off: a bad address ends the run with a violation that names its line, and the
// next run begins as if nothing had happened.
#include <cuda_runtime.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "sim/testing/judging.h"
#include "sim/testing/test_program.h"

namespace adamant::sim {
namespace {

using Broken = Judge;

int line_of(std::string const& mark) {
  return marked_line("sim/watch/fault_test.cu", mark);
}

Report run_quietly(std::function<void(int)> const& program, int ranks = 1, bool checked = true) {
  Options options;
  options.checked = checked;
  options.announce = false;
  return run(ranks, program, options);
}

/// The only violation of the run, which is of a bad address.
Violation bad_address(Report const& report) {
  EXPECT_EQ(report.unlocated, "");
  EXPECT_EQ(report.violations.size(), 1U);
  if (report.ok()) return {};
  Violation const& found = report.violations.back();
  EXPECT_EQ(found.law, Law::access_bounds);
  EXPECT_EQ(found.breach, Breach::bad_address);
  EXPECT_EQ(found.accesses.size(), 1U);
  return found.accesses.size() == 1 ? found : Violation{};
}

void expect_usable_world() {
  Report const report = run_quietly([](int) {
    float* const data = on_device("data");
    cudaMemset(data, 0, bytes);
    cudaDeviceSynchronize();
    cudaFree(data);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

__global__ void store_at(float* to) {
  to[threadIdx.x] = 1.0F;  // <- stored
}

__global__ void store_after_barrier(float* to) {
  __syncthreads();
  if (threadIdx.x == 3) to[0] = 1.0F;  // <- stored after barrier
  __syncthreads();
}

__global__ void overrun(int at) {
  extern __shared__ float shared[];
  shared[at] = 1.0F;  // <- overrun
}

template <typename Vector>
__global__ void load_vector(char const* from, char* to) {
  *reinterpret_cast<Vector*>(to) = *reinterpret_cast<Vector const*>(from + 4);  // <- misaligned
}

TEST_F(Broken, ANullPointerInAKernelIsAViolationWithItsLineAndItsLaunch) {
  for (bool const checked : {true, false}) {
    Report const report = run_quietly(
        [](int) {
          cudaStream_t const a = new_stream("a");
          store_at<<<1, 1, 0, a>>>(nullptr);  // <- launched
          cudaStreamSynchronize(a);
        },
        1, checked);
    Violation const found = bad_address(report);
    ASSERT_EQ(found.accesses.size(), 1U);
    EXPECT_EQ(found.accesses[0].at.line, line_of("stored"));
    EXPECT_EQ(found.accesses[0].enqueued_at.line, line_of("launched"));
    EXPECT_EQ(found.accesses[0].operation, "store_at");
    EXPECT_EQ(found.accesses[0].stream, "a");
    EXPECT_EQ(found.accesses[0].kind, "write");
    EXPECT_EQ(found.message, "store_at touches address 0x0: its pointer is null");
    expect_usable_world();
  }
}

TEST_F(Broken, AWildPointerInABlockOfManyThreadsLeavesItsFibers) {
  for (bool const checked : {true, false}) {
    for (int time = 0; time < 3; ++time) {
      Report const report = run_quietly(
          [](int) {
            store_after_barrier<<<2, 64>>>(reinterpret_cast<float*>(0x10));
            cudaDeviceSynchronize();
          },
          1, checked);
      Violation const found = bad_address(report);
      ASSERT_EQ(found.accesses.size(), 1U);
      EXPECT_EQ(found.accesses[0].at.line, line_of("stored after barrier"));
      expect_usable_world();
    }
  }
}

TEST_F(Broken, AnAddressThatNoMemoryCanHaveIsOneAsWell) {
  Report const report = run_quietly([](int) {
    store_at<<<1, 1>>>(reinterpret_cast<float*>(0xDEAD'0000'0000'0000));
    cudaDeviceSynchronize();
  });
  EXPECT_EQ(bad_address(report).message,
            "store_at touches an address that is not aligned as the type asks, or that no memory "
            "can have");
}

TEST_F(Broken, HostCodeOfOneRankEndsTheWorldOfAll) {
  Report const report = run_quietly(
      [](int rank) {
        float volatile* volatile wild = nullptr;
        if (rank == 1) *wild = 1.0F;  // <- of the host
        barrier();
      },
      3);
  Violation const found = bad_address(report);
  ASSERT_EQ(found.accesses.size(), 1U);
  EXPECT_EQ(found.rank, 1);
  EXPECT_EQ(found.accesses[0].at.line, line_of("of the host"));
  EXPECT_EQ(found.accesses[0].stream, "host");
  expect_usable_world();
}

TEST_F(Broken, AHostFunctionAndACopyAreOperationsToo) {
  Report const of_function = run_quietly([](int) {
    cudaLaunchHostFunc(
        nullptr, [](void* to) { *static_cast<int*>(to) = 1; }, nullptr);  // <- function
    cudaDeviceSynchronize();
  });
  ASSERT_EQ(bad_address(of_function).accesses.size(), 1U);
  EXPECT_EQ(of_function.violations[0].accesses[0].at.line, line_of("function"));
  Report const of_copy = run_quietly([](int) {
    float* const data = on_device("data");
    cudaMemcpyAsync(data, reinterpret_cast<void*>(0x40), bytes, cudaMemcpyHostToDevice);  // <- copy
    cudaDeviceSynchronize();
  });
  ASSERT_EQ(of_copy.violations.size(), 1U) << describe(of_copy);
  EXPECT_EQ(of_copy.violations[0].breach, Breach::bad_address);
  expect_usable_world();
}

int depth(int left) {
  int volatile large[1000] = {left};
  return left == 0 ? 0 : depth(left - 1) + large[0];
}

TEST_F(Broken, AStackThatIsTooDeepIsSaidToBe) {
  Report const report = run_quietly([](int) { depth(1'000'000); });
  EXPECT_EQ(bad_address(report).message,
            "host code touches the end of its stack: local variables or recursion need more than "
            "there is");
  expect_usable_world();
}

// What a process and a thread of a device have elsewhere.
__global__ void use_local_memory(int* to) {
  int volatile local[100'000] = {};  // 400 KB
  for (int i = 0; i < 100'000; i += 1000) local[i] = static_cast<int>(threadIdx.x) + i;
  __syncthreads();
  to[threadIdx.x] = local[99'000];
}

TEST_F(Broken, LargeLocalVariablesHaveRoom) {
  Report const report = run_quietly([](int) {
    char volatile of_host[7 << 20] = {};
    of_host[sizeof of_host / 2] = 1;
    EXPECT_EQ(of_host[0], 0);
    for (unsigned const threads : {1U, 4U}) {
      int* to = nullptr;
      cudaMallocHost(&to, 4 * sizeof(int));
      use_local_memory<<<1, threads>>>(to);
      EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
      EXPECT_EQ(to[threads - 1], 98'999 + static_cast<int>(threads));
      cudaFreeHost(to);
    }
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

TEST_F(Broken, AFrameThatIsLargerThanTheStackIsSaidToBe) {
  Report const report = run_quietly([](int) {
    char volatile large[(8 << 20) + (256 << 10)];
    large[0] = 1;
    EXPECT_EQ(large[0], 1);
  });
  EXPECT_EQ(bad_address(report).message,
            "host code touches the end of its stack: local variables or recursion need more than "
            "there is");
  expect_usable_world();
}

TEST_F(Broken, AnOverrunOfSharedMemoryIsSaidByHowMuch) {
  Report const report = run_quietly([](int) {
    overrun<<<1, 1, 64>>>(15);
    overrun<<<1, 1, 64>>>(17);
    cudaDeviceSynchronize();
  });
  Violation const found = bad_address(report);
  EXPECT_EQ(found.message, "overrun touches byte 4 behind the 64 bytes of dynamic shared memory");
  ASSERT_EQ(found.accesses.size(), 1U);
  EXPECT_EQ(found.accesses[0].at.line, line_of("overrun"));
}

__global__ void shift(float* to) {
  __shared__ float row[4];
  row[threadIdx.x + 1] = 1.0F;  // <- beyond the row
  __syncthreads();
  to[threadIdx.x] = row[threadIdx.x];
}

TEST_F(Broken, AnIndexOutsideOfAnArrayIsAViolationWithItsLine) {
  Report const report = run_quietly([](int) {
    float* const data = on_device("data");
    shift<<<1, 4>>>(data);  // <- launched the shift
    cudaDeviceSynchronize();
    cudaFree(data);
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  Violation const& found = report.violations[0];
  EXPECT_EQ(found.law, Law::access_bounds);
  EXPECT_EQ(report.unlocated, "");
  EXPECT_EQ(found.message, "shift takes element 4 of an array `float[4]`");
  ASSERT_EQ(found.accesses.size(), 1U);
  EXPECT_EQ(found.accesses[0].at.line, line_of("beyond the row")) << describe(report);
  EXPECT_EQ(found.accesses[0].enqueued_at.line, line_of("launched the shift"));
}

TEST_F(Broken, SoIsOneOfHostCode) {
  Report const report = run_quietly([](int) {
    int volatile index = -1;
    int counts[3] = {};
    int const* const begin = &counts[index + 1];
    if (begin[0] == 0) counts[index] = 7;  // <- before the counts
    cudaDeviceSynchronize();
  });
  ASSERT_EQ(report.violations.size(), 1U) << describe(report);
  EXPECT_EQ(report.violations[0].message.substr(0, 38), "host code takes element -1 of an array");
  EXPECT_EQ(report.violations[0].accesses.at(0).at.line, line_of("before the counts"));
}

__device__ float4 doubled(float4 of) {
  return make_float4(2 * of.x, 2 * of.y, 2 * of.z, 2 * of.w);
}

__global__ void double_all(float4* data) {
  data[threadIdx.x] = doubled(data[threadIdx.x]);
}

// Law: of a structure that a function takes or returns, the load and the store are accesses.
TEST_F(Broken, AStructureThatAFunctionReturnsIsStoredInBounds) {
  Report const report = run_quietly([](int) {
    float* const data = on_device("data");
    cudaMemset(data, 0, bytes);
    double_all<<<1, bytes / sizeof(float4) + 1>>>(reinterpret_cast<float4*>(data));
    cudaDeviceSynchronize();
    cudaFree(data);
  });
  EXPECT_EQ(report.accesses % (bytes / sizeof(float4) + 1), 0U);
  EXPECT_GE(report.accesses, 2 * (bytes / sizeof(float4) + 1));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.violations[0].law, Law::access_bounds);
}

template <typename Vector>
void expect_misaligned(std::string const& type, std::size_t alignment) {
  Report const report = run_quietly([](int) {
    char* data = nullptr;
    cudaMalloc(&data, 256);
    cudaMemset(data, 0, 256);
    load_vector<Vector><<<1, 1>>>(data, data + 64);
    cudaDeviceSynchronize();
    cudaFree(data);
  });
  ASSERT_FALSE(report.ok());
  Violation const& found = report.violations.front();
  EXPECT_EQ(found.breach, Breach::misaligned);
  EXPECT_EQ(found.message, "load_vector<" + type + "> takes a `" + type +
                               "` at byte 4 of buffer (allocation 0, 256 bytes), which " +
                               std::to_string(alignment) + " does not divide");
  ASSERT_EQ(found.accesses.size(), 1U);
  EXPECT_EQ(found.accesses[0].at.line, line_of("misaligned"));
  EXPECT_EQ(found.accesses[0].kind, "read");
}

TEST_F(Broken, AVectorThatIsMisalignedIsAViolationWhetherTheMachineMindsOrNot) {
  expect_misaligned<double>("double", 8);
#ifndef __clang__  // which checks numbers alone, not whole structures
  expect_misaligned<float4>("float4", 16);
#endif
}

TEST_F(Broken, ANumberThatHostCodeMisalignsIsNoViolation) {
  Report const report = run_quietly([](int) {
    char* data = nullptr;
    cudaMallocHost(&data, bytes);
    *reinterpret_cast<int*>(data + 1) = 3;  // GPUs trap there, CPUs do not
    cudaFreeHost(data);
  });
  EXPECT_TRUE(report.ok()) << describe(report);
}

// ---- programs that end inside of a run ----------------------------------------------------------

/// A race, and then what `ends` does.
void break_off(std::function<void()> const& ends) {
  run(2, [&](int rank) {
    cudaStream_t const a = new_stream("a");
    float* const data = on_device("data");
    float* host = nullptr;
    cudaMallocHost(&host, bytes);
    cudaMemsetAsync(data, 0, bytes, a);
    cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, a);
    float volatile const value = host[3];  // <- read too early
    cudaDeviceSynchronize();
    if (rank == 1 && value == value) ends();
    barrier();
  });
}

/// The report of that, with its line, after the line that was printed at once.
std::string report_of_break_off(std::string const& how) {
  return "adamant: order.race: rank .: cudaMemcpyAsync.*adamant: the program " + how +
         " after violations:.*at sim/watch/fault_test.cu:" +
         std::to_string(line_of("read too early"));
}

using BrokenDeathTest = Broken;

TEST_F(BrokenDeathTest, AnExceptionGoesOnAfterTheReport) {
  testing::internal::CaptureStderr();
  EXPECT_THROW(break_off([] { throw std::runtime_error("of the program"); }), std::runtime_error);
  std::string const told = testing::internal::GetCapturedStderr();
  std::size_t const at_once = told.find("adamant: order.race: rank ");
  std::size_t const whole = told.find("adamant: the program throws an exception after violations:");
  EXPECT_LT(at_once, whole) << told;
  EXPECT_LT(whole,
            told.find("at sim/watch/fault_test.cu:" + std::to_string(line_of("read too early"))))
      << told;
  expect_usable_world();
}

// A dot matches no line end in gtest's expressions.
std::string across_lines(std::string text) {
  for (std::size_t at = 0; (at = text.find(".*", at)) != text.npos; at += 6)
    text.replace(at, 2, "(.|\n)*");
  return text;
}

TEST_F(BrokenDeathTest, ExitComesAfterTheReport) {
  EXPECT_EXIT(break_off([] { std::exit(3); }), testing::ExitedWithCode(3),
              across_lines(report_of_break_off("ends its process")));
}

TEST_F(BrokenDeathTest, AbortComesAfterTheReport) {
  EXPECT_EXIT(break_off([] { std::abort(); }), testing::KilledBySignal(SIGABRT),
              across_lines(report_of_break_off("ends its process")));
}

TEST_F(BrokenDeathTest, ASignalThatEndsTheProcessComesAfterTheReport) {
  for (int const signal : {SIGFPE, SIGILL, SIGTRAP})
    EXPECT_EXIT(break_off([=] { std::raise(signal); }), testing::KilledBySignal(signal),
                across_lines(report_of_break_off("ends its process")));
}

TEST_F(BrokenDeathTest, ExitTellsAnErrorThatNobodySaw) {
  auto const program = [](int) {
    cudaFree(reinterpret_cast<void*>(8));
    std::exit(3);
  };
  EXPECT_EXIT(run(1, program), testing::ExitedWithCode(3),
              across_lines("ends its process after warnings:.*cudaFree returned"));
}

TEST_F(BrokenDeathTest, ExitWithoutAViolationSaysNothing) {
  EXPECT_EXIT(run(1, [](int) { std::exit(4); }), testing::ExitedWithCode(4), "^$");
}

}  // namespace
}  // namespace adamant::sim
