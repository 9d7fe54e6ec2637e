// The enum values and flags of the clone, each list once: the clone's headers make their enums of
// these lists, and a test compares every entry with an installed toolkit.
//
// The header knows macros only, so that it can stand beside the toolkit's own headers. What is not
// listed is not simulated, and a program that uses it does not compile.
#pragma once

// clang-format off
#define ADAMANT_SIM_CUDA_FLAGS(X) \
  X(cudaHostAllocDefault, 0x00) \
  X(cudaHostAllocPortable, 0x01) \
  X(cudaHostAllocMapped, 0x02) \
  X(cudaHostAllocWriteCombined, 0x04) \
  X(cudaHostRegisterDefault, 0x00) \
  X(cudaHostRegisterPortable, 0x01) \
  X(cudaHostRegisterMapped, 0x02) \
  X(cudaHostRegisterIoMemory, 0x04) \
  X(cudaHostRegisterReadOnly, 0x08) \
  X(cudaPeerAccessDefault, 0x00) \
  X(cudaStreamDefault, 0x00) \
  X(cudaStreamNonBlocking, 0x01) \
  X(cudaEventDefault, 0x00) \
  X(cudaEventBlockingSync, 0x01) \
  X(cudaEventDisableTiming, 0x02) \
  X(cudaEventInterprocess, 0x04) \
  X(cudaEventRecordDefault, 0x00) \
  X(cudaEventRecordExternal, 0x01) \
  X(cudaEventWaitDefault, 0x00) \
  X(cudaEventWaitExternal, 0x01) \
  X(cudaGraphInstantiateFlagAutoFreeOnLaunch, 1) \
  X(cudaGraphInstantiateFlagUpload, 2) \
  X(cudaGraphInstantiateFlagDeviceLaunch, 4) \
  X(cudaGraphInstantiateFlagUseNodePriority, 8) \
  X(cudaDeviceScheduleAuto, 0x00) \
  X(cudaDeviceScheduleSpin, 0x01) \
  X(cudaDeviceScheduleYield, 0x02) \
  X(cudaDeviceScheduleBlockingSync, 0x04) \
  X(cudaDeviceMapHost, 0x08) \
  X(cudaCpuDeviceId, -1) \
  X(cudaInvalidDeviceId, -2)

#define ADAMANT_SIM_CUDA_MEMCPY_KINDS(X) \
  X(cudaMemcpyHostToHost, 0) \
  X(cudaMemcpyHostToDevice, 1) \
  X(cudaMemcpyDeviceToHost, 2) \
  X(cudaMemcpyDeviceToDevice, 3) \
  X(cudaMemcpyDefault, 4)

#define ADAMANT_SIM_CUDA_MEMORY_TYPES(X) \
  X(cudaMemoryTypeUnregistered, 0) \
  X(cudaMemoryTypeHost, 1) \
  X(cudaMemoryTypeDevice, 2) \
  X(cudaMemoryTypeManaged, 3)

#define ADAMANT_SIM_CUDA_MEM_POOL_ATTRS(X) \
  X(cudaMemPoolReuseFollowEventDependencies, 1) \
  X(cudaMemPoolReuseAllowOpportunistic, 2) \
  X(cudaMemPoolReuseAllowInternalDependencies, 3) \
  X(cudaMemPoolAttrReleaseThreshold, 4) \
  X(cudaMemPoolAttrReservedMemCurrent, 5) \
  X(cudaMemPoolAttrReservedMemHigh, 6) \
  X(cudaMemPoolAttrUsedMemCurrent, 7) \
  X(cudaMemPoolAttrUsedMemHigh, 8)

#define ADAMANT_SIM_CUDA_MEM_ALLOCATION_TYPES(X) \
  X(cudaMemAllocationTypeInvalid, 0) \
  X(cudaMemAllocationTypePinned, 1) \
  X(cudaMemAllocationTypeMax, 0x7FFFFFFF)

#define ADAMANT_SIM_CUDA_MEM_HANDLE_TYPES(X) \
  X(cudaMemHandleTypeNone, 0)

#define ADAMANT_SIM_CUDA_MEM_LOCATION_TYPES(X) \
  X(cudaMemLocationTypeInvalid, 0) \
  X(cudaMemLocationTypeDevice, 1) \
  X(cudaMemLocationTypeHost, 2)

#define ADAMANT_SIM_CUDA_MEM_ACCESS_FLAGS(X) \
  X(cudaMemAccessFlagsProtNone, 0) \
  X(cudaMemAccessFlagsProtRead, 1) \
  X(cudaMemAccessFlagsProtReadWrite, 3)

#define ADAMANT_SIM_CUDA_CAPTURE_STATUSES(X) \
  X(cudaStreamCaptureStatusNone, 0) \
  X(cudaStreamCaptureStatusActive, 1) \
  X(cudaStreamCaptureStatusInvalidated, 2)

#define ADAMANT_SIM_CUDA_CAPTURE_MODES(X) \
  X(cudaStreamCaptureModeGlobal, 0) \
  X(cudaStreamCaptureModeThreadLocal, 1) \
  X(cudaStreamCaptureModeRelaxed, 2)

#define ADAMANT_SIM_CUDA_GRAPH_NODE_TYPES(X) \
  X(cudaGraphNodeTypeKernel, 0) \
  X(cudaGraphNodeTypeMemcpy, 1) \
  X(cudaGraphNodeTypeMemset, 2) \
  X(cudaGraphNodeTypeHost, 3) \
  X(cudaGraphNodeTypeWaitEvent, 6) \
  X(cudaGraphNodeTypeEventRecord, 7)

#define ADAMANT_SIM_CUDA_LAUNCH_ATTRIBUTES(X) \
  X(cudaLaunchAttributeIgnore, 0) \
  X(cudaLaunchAttributePriority, 8)

#define ADAMANT_SIM_CUDA_DEVICE_ATTRS(X) \
  X(cudaDevAttrMaxThreadsPerBlock, 1) \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8) \
  X(cudaDevAttrWarpSize, 10) \
  X(cudaDevAttrMultiProcessorCount, 16) \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39) \
  X(cudaDevAttrComputeCapabilityMajor, 75) \
  X(cudaDevAttrComputeCapabilityMinor, 76) \
  X(cudaDevAttrCanUseHostPointerForRegisteredMem, 91) \
  X(cudaDevAttrHostRegisterSupported, 99) \
  X(cudaDevAttrMemoryPoolsSupported, 115)

#define ADAMANT_SIM_NCCL_RESULTS(X) \
  X(ncclSuccess, 0) \
  X(ncclUnhandledCudaError, 1) \
  X(ncclSystemError, 2) \
  X(ncclInternalError, 3) \
  X(ncclInvalidArgument, 4) \
  X(ncclInvalidUsage, 5) \
  X(ncclRemoteError, 6) \
  X(ncclInProgress, 7) \
  X(ncclNumResults, 8)

#define ADAMANT_SIM_NCCL_REDUCTIONS(X) \
  X(ncclSum, 0) \
  X(ncclProd, 1) \
  X(ncclMax, 2) \
  X(ncclMin, 3) \
  X(ncclAvg, 4) \
  X(ncclNumOps, 5) \
  X(ncclMaxRedOp, 0x7FFFFFFF)

#define ADAMANT_SIM_NCCL_TYPES(X) \
  X(ncclInt8, 0) \
  X(ncclChar, 0) \
  X(ncclUint8, 1) \
  X(ncclInt32, 2) \
  X(ncclInt, 2) \
  X(ncclUint32, 3) \
  X(ncclInt64, 4) \
  X(ncclUint64, 5) \
  X(ncclFloat16, 6) \
  X(ncclHalf, 6) \
  X(ncclFloat32, 7) \
  X(ncclFloat, 7) \
  X(ncclFloat64, 8) \
  X(ncclDouble, 8) \
  X(ncclBfloat16, 9) \
  X(ncclFloat8e4m3, 10) \
  X(ncclFloat8e5m2, 11) \
  X(ncclNumTypes, 12)

#define ADAMANT_SIM_NCCL_RESIDENCES(X) \
  X(ncclScalarDevice, 0) \
  X(ncclScalarHostImmediate, 1)
// clang-format on

/// Expands a list to the body of an enum.
#define ADAMANT_SIM_ENUMERATOR(name, value) name = (value),
