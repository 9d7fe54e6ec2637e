// Clone of CUDA C++'s front door: the language extensions as far as a C++ compiler can carry them,
// typed launches, and the overloads of the allocation functions.
//
// Declarations and inline conversions only: what a launch or a barrier does is the simulator's
// business. What is not modelled fails to compile; unsupported_calls.h names the calls that say so.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#if __cplusplus < 202002L
#error "the simulated CUDA needs C++20"
#endif

/// Set where this clone stands for the toolkit.
#define ADAMANT_SIM 1

#define __host__
#define __device__
// What a kernel calls is inlined: g++ reports neither the store of a structure that a call returns
// nor the load of one that it takes.
#ifndef __global__  // whoever compiles may leave it to the compiler, as the next
#define __global__ __attribute__((flatten))
#endif
#define __constant__
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
#ifndef __forceinline__  // whoever compiles may leave it to the compiler
#define __forceinline__ inline __attribute__((always_inline))
#endif
// One block runs at a time on the one thread of a world, so that a block's variable can be static.
#define __shared__ static thread_local

extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

// ---- what the simulator answers ------------------------------------------------------------
extern "C" {
/// Waits for every thread of the block.
void __syncthreads();
/// The launch's dynamic shared memory; stands behind `extern __shared__ T name[];`.
void* adamant_sim_dynamic_shared();
/// The accesses of a device thread count between these two: what carries its arguments to it is no
/// part of the program.
void adamant_sim_kernel_begins();
void adamant_sim_kernel_ends();
/// What reports call a kernel whose symbol does not say it.
void adamant_sim_name_kernel(void const* kernel, char const* name);
}

/// A call returned `error` to nobody. If nobody asks for it with cudaGetLastError either, it is a
/// warning (error.unseen) when the rank ends.
void adamant_sim_dropped(char const* call, char const* error, bool is_last_error);

/// Stands around a call whose result the program drops.
template <typename Result>
void adamant_sim_discard(char const* call, Result result) {
  if constexpr (std::is_same_v<Result, cudaError_t>) {
    bool const failed = result != cudaSuccess && result != cudaErrorNotReady;
    if (failed) adamant_sim_dropped(call, cudaGetErrorName(result), true);
  }
}

/// One argument of a launch as a graph would hold it: bytes, some of which are addresses.
struct adamant_sim_argument {
  void const* at;
  std::size_t bytes;
};

/// Enqueues a kernel. `body` runs one thread of it; the simulator sets threadIdx and its kin.
/// Errors: what cudaLaunchKernelEx returns; it is also the calling rank's last error.
cudaError_t adamant_sim_launch(cudaLaunchConfig_t const* config, void const* function,
                               std::function<void()> body, adamant_sim_argument const* arguments,
                               std::size_t argument_count);

// ---- launches ------------------------------------------------------------------------------
/// Arguments are converted to the parameter types and copied before the call returns.
template <typename... ExpTypes, typename... ActTypes>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* config, void (*kernel)(ExpTypes...),
                               ActTypes&&... args) {
  static_assert((!std::is_reference_v<ExpTypes> && ...), "a kernel takes its parameters by value");
  return [&](ExpTypes... coerced) {
    adamant_sim_argument const arguments[] = {{&coerced, sizeof coerced}..., {nullptr, 0}};
    return adamant_sim_launch(
        config, reinterpret_cast<void const*>(kernel),
        [kernel, coerced...] {
          [kernel](ExpTypes... own) {
            adamant_sim_kernel_begins();
            kernel(own...);
            adamant_sim_kernel_ends();
          }(coerced...);
        },
        arguments, sizeof...(ExpTypes));
  }(std::forward<ActTypes>(args)...);
}

/// What stands between <<< and >>>.
struct adamant_sim_chevron {
  explicit adamant_sim_chevron(dim3 grid, dim3 block, std::size_t shared = 0,
                               cudaStream_t stream = nullptr)
      : config{grid, block, shared, stream, nullptr, 0} {}
  cudaLaunchConfig_t config;
};

/// kernel<<<...>>>(args...) after the lexer. As in CUDA, an error is left for cudaGetLastError.
template <typename... ExpTypes, typename... ActTypes>
void adamant_sim_launch_chevron(void (*kernel)(ExpTypes...), adamant_sim_chevron const& chevron,
                                ActTypes&&... args) {
  adamant_sim_discard("the launch",
                      cudaLaunchKernelEx(&chevron.config, kernel, std::forward<ActTypes>(args)...));
}

/// A template kernel without its arguments, as the source names it.
template <typename Generic>
struct adamant_sim_deduced_kernel {
  char const* name;
  Generic call;
};
template <typename Generic>
adamant_sim_deduced_kernel<Generic> adamant_sim_deduced(char const* name, Generic call) {
  return {name, call};
}

/// The same for such a kernel: the lexer wraps it in a generic lambda, and the types of `args`
/// decide.
template <typename Generic, typename... ActTypes>
void adamant_sim_launch_chevron(adamant_sim_deduced_kernel<Generic> const& deduced,
                                adamant_sim_chevron const& chevron, ActTypes&&... args) {
  void (*const kernel)(std::decay_t<ActTypes>...) = deduced.call;
  adamant_sim_name_kernel(reinterpret_cast<void const*>(kernel), deduced.name);
  adamant_sim_launch_chevron(kernel, chevron, std::forward<ActTypes>(args)...);
}

// ---- overloads that spare the casts --------------------------------------------------------
template <typename T>
cudaError_t cudaMalloc(T** devPtr, std::size_t size) {
  return ::cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}

inline cudaError_t cudaMallocHost(void** ptr, std::size_t size, unsigned int flags) {
  return ::cudaHostAlloc(ptr, size, flags);
}

template <typename T>
cudaError_t cudaMallocHost(T** ptr, std::size_t size, unsigned int flags = 0) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}

template <typename T>
cudaError_t cudaHostAlloc(T** ptr, std::size_t size, unsigned int flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(ptr), size, flags);
}

template <typename T>
cudaError_t cudaHostGetDevicePointer(T** pDevice, void* pHost, unsigned int flags) {
  return ::cudaHostGetDevicePointer(reinterpret_cast<void**>(pDevice), pHost, flags);
}

template <typename T>
cudaError_t cudaMallocAsync(T** ptr, std::size_t size, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(ptr), size, stream);
}

inline cudaError_t cudaMallocAsync(void** ptr, std::size_t size, cudaMemPool_t memPool,
                                   cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(ptr, size, memPool, stream);
}

template <typename T>
cudaError_t cudaMallocAsync(T** ptr, std::size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(reinterpret_cast<void**>(ptr), size, memPool, stream);
}

template <typename T>
cudaError_t cudaMallocFromPoolAsync(T** ptr, std::size_t size, cudaMemPool_t memPool,
                                    cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(reinterpret_cast<void**>(ptr), size, memPool, stream);
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned int flags) {
  return ::cudaEventCreateWithFlags(event, flags);
}

#include "device_functions.h"
#include "unsupported_calls.h"
