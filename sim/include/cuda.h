// What programs that call the runtime alone take from the driver's header: the toolkit's version
// and the types of its handles. Calls of the driver are not modelled, and the usual ones say so.
#pragma once

#include "driver_types.h"

#define CUDA_VERSION 13000

using CUstream = cudaStream_t;
using CUevent = cudaEvent_t;
using CUgraph = cudaGraph_t;
using CUgraphExec = cudaGraphExec_t;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
enum CUresult { CUDA_SUCCESS = 0 };

#define ADAMANT_SIM_NO_DRIVER_CALL(name)                                                        \
  template <typename... Arguments>                                                              \
  __attribute__((unavailable(#name                                                              \
                             " is not modelled: see \"Modelled, simplified, not modelled\" in " \
                             "sim/README.md"))) CUresult                                        \
  name(Arguments&&...);

// clang-format off
ADAMANT_SIM_NO_DRIVER_CALL(cuCtxCreate)
ADAMANT_SIM_NO_DRIVER_CALL(cuCtxGetCurrent)
ADAMANT_SIM_NO_DRIVER_CALL(cuCtxSetCurrent)
ADAMANT_SIM_NO_DRIVER_CALL(cuCtxSynchronize)
ADAMANT_SIM_NO_DRIVER_CALL(cuDeviceGet)
ADAMANT_SIM_NO_DRIVER_CALL(cuDeviceGetAttribute)
ADAMANT_SIM_NO_DRIVER_CALL(cuDevicePrimaryCtxRetain)
ADAMANT_SIM_NO_DRIVER_CALL(cuGetErrorName)
ADAMANT_SIM_NO_DRIVER_CALL(cuGetErrorString)
ADAMANT_SIM_NO_DRIVER_CALL(cuInit)
ADAMANT_SIM_NO_DRIVER_CALL(cuLaunchKernel)
ADAMANT_SIM_NO_DRIVER_CALL(cuLaunchKernelEx)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemAddressReserve)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemAlloc)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemCreate)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemFree)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemMap)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemcpyDtoH)
ADAMANT_SIM_NO_DRIVER_CALL(cuMemcpyHtoD)
ADAMANT_SIM_NO_DRIVER_CALL(cuModuleGetFunction)
ADAMANT_SIM_NO_DRIVER_CALL(cuModuleLoad)
ADAMANT_SIM_NO_DRIVER_CALL(cuModuleLoadData)
ADAMANT_SIM_NO_DRIVER_CALL(cuStreamSynchronize)
ADAMANT_SIM_NO_DRIVER_CALL(cuStreamWaitValue32)
ADAMANT_SIM_NO_DRIVER_CALL(cuStreamWriteValue32)
// clang-format on

#undef ADAMANT_SIM_NO_DRIVER_CALL
