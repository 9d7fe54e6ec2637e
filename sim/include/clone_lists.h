// What a test compares between the clone and an installed toolkit: functions by their type, structs
// by size and the place of their members. Values are in adamant_sim_names.h.
//
// A function or struct missing here would go unchecked, so the test also reads the clone's headers.
#pragma once

// clang-format off
#define ADAMANT_SIM_CUDA_FUNCTIONS(X) \
  X(cudaGetLastError) X(cudaPeekAtLastError) X(cudaGetErrorName) X(cudaGetErrorString) \
  X(cudaSetDevice) X(cudaGetDevice) X(cudaGetDeviceCount) X(cudaGetDeviceProperties) \
  X(cudaDeviceGetAttribute) X(cudaDeviceSynchronize) X(cudaDeviceReset) X(cudaSetDeviceFlags) \
  X(cudaDriverGetVersion) X(cudaRuntimeGetVersion) X(cudaDeviceCanAccessPeer) \
  X(cudaDeviceEnablePeerAccess) X(cudaDeviceDisablePeerAccess) \
  X(cudaMalloc) X(cudaFree) X(cudaMallocHost) X(cudaHostAlloc) X(cudaFreeHost) \
  X(cudaHostRegister) X(cudaHostUnregister) X(cudaHostGetDevicePointer) X(cudaHostGetFlags) \
  X(cudaMemGetInfo) X(cudaPointerGetAttributes) \
  X(cudaMemcpy) X(cudaMemcpyAsync) X(cudaMemcpyPeer) X(cudaMemcpyPeerAsync) X(cudaMemset) \
  X(cudaMemsetAsync) \
  X(cudaMallocAsync) X(cudaFreeAsync) X(cudaMallocFromPoolAsync) X(cudaDeviceGetDefaultMemPool) \
  X(cudaDeviceGetMemPool) X(cudaDeviceSetMemPool) X(cudaMemPoolCreate) X(cudaMemPoolDestroy) \
  X(cudaMemPoolTrimTo) X(cudaMemPoolSetAttribute) X(cudaMemPoolGetAttribute) \
  X(cudaMemPoolSetAccess) X(cudaMemPoolGetAccess) \
  X(cudaStreamCreate) X(cudaStreamCreateWithFlags) X(cudaStreamCreateWithPriority) \
  X(cudaDeviceGetStreamPriorityRange) X(cudaStreamGetPriority) X(cudaStreamGetFlags) \
  X(cudaStreamGetId) X(cudaStreamGetDevice) X(cudaStreamDestroy) X(cudaStreamSynchronize) \
  X(cudaStreamQuery) X(cudaStreamWaitEvent) X(cudaStreamIsCapturing) X(cudaLaunchHostFunc) \
  X(cudaStreamBeginCapture) X(cudaStreamEndCapture) X(cudaStreamGetCaptureInfo) \
  X(cudaThreadExchangeStreamCaptureMode) X(cudaGraphGetNodes) X(cudaGraphNodeGetType) \
  X(cudaGraphDestroy) X(cudaGraphInstantiate) X(cudaGraphInstantiateWithFlags) \
  X(cudaGraphUpload) X(cudaGraphLaunch) X(cudaGraphExecDestroy) \
  X(cudaEventCreate) X(cudaEventCreateWithFlags) X(cudaEventRecord) X(cudaEventRecordWithFlags) \
  X(cudaEventQuery) X(cudaEventSynchronize) X(cudaEventElapsedTime) X(cudaEventDestroy)

#define ADAMANT_SIM_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion) X(ncclGetErrorString) X(ncclGetLastError) X(ncclMemAlloc) X(ncclMemFree) \
  X(ncclGetUniqueId) X(ncclCommInitRank) X(ncclCommInitRankConfig) X(ncclCommInitAll) \
  X(ncclCommSplit) X(ncclCommFinalize) X(ncclCommDestroy) X(ncclCommAbort) \
  X(ncclCommGetAsyncError) X(ncclCommCount) X(ncclCommCuDevice) X(ncclCommUserRank) \
  X(ncclGroupStart) X(ncclGroupEnd) X(ncclRedOpCreatePreMulSum) X(ncclRedOpDestroy) \
  X(ncclAllReduce) X(ncclReduceScatter) X(ncclAllGather) X(ncclReduce) X(ncclBroadcast) \
  X(ncclBcast) X(ncclSend) X(ncclRecv)

#define ADAMANT_SIM_VECTOR_NAMES(X) \
  X(char1) X(char2) X(char3) X(char4) X(uchar1) X(uchar2) X(uchar3) X(uchar4) \
  X(short1) X(short2) X(short3) X(short4) X(ushort1) X(ushort2) X(ushort3) X(ushort4) \
  X(int1) X(int2) X(int3) X(int4) X(uint1) X(uint2) X(uint3) X(uint4) \
  X(longlong1) X(longlong2) X(longlong3) X(ulonglong1) X(ulonglong2) X(ulonglong3) \
  X(float1) X(float2) X(float3) X(float4) X(double1) X(double2) X(double3) X(dim3)

#define ADAMANT_SIM_CUDA_STRUCTS(X) \
  X(cudaPointerAttributes) X(cudaMemLocation) X(cudaMemAccessDesc) X(cudaMemPoolProps) \
  X(cudaLaunchAttributeValue) X(cudaLaunchAttribute) X(cudaLaunchConfig_t) X(cudaGraphEdgeData)

#define ADAMANT_SIM_CUDA_MEMBERS(X) \
  X(cudaPointerAttributes, type) X(cudaPointerAttributes, device) \
  X(cudaPointerAttributes, devicePointer) X(cudaPointerAttributes, hostPointer) \
  X(cudaPointerAttributes, reserved) \
  X(cudaMemLocation, type) X(cudaMemLocation, id) \
  X(cudaGraphEdgeData, from_port) X(cudaGraphEdgeData, to_port) X(cudaGraphEdgeData, type) \
  X(cudaGraphEdgeData, reserved) \
  X(cudaMemAccessDesc, location) X(cudaMemAccessDesc, flags) \
  X(cudaMemPoolProps, allocType) X(cudaMemPoolProps, handleTypes) X(cudaMemPoolProps, location) \
  X(cudaMemPoolProps, win32SecurityAttributes) X(cudaMemPoolProps, maxSize) \
  X(cudaMemPoolProps, usage) X(cudaMemPoolProps, reserved) \
  X(cudaLaunchAttributeValue, pad) X(cudaLaunchAttributeValue, priority) \
  X(cudaLaunchAttribute, id) X(cudaLaunchAttribute, pad) X(cudaLaunchAttribute, val) \
  X(cudaLaunchConfig_t, gridDim) X(cudaLaunchConfig_t, blockDim) \
  X(cudaLaunchConfig_t, dynamicSmemBytes) X(cudaLaunchConfig_t, stream) \
  X(cudaLaunchConfig_t, attrs) X(cudaLaunchConfig_t, numAttrs)

#define ADAMANT_SIM_NCCL_MEMBERS(X) \
  X(ncclUniqueId, internal) \
  X(ncclConfig_t, size) X(ncclConfig_t, magic) X(ncclConfig_t, version) \
  X(ncclConfig_t, blocking) X(ncclConfig_t, cgaClusterSize) X(ncclConfig_t, minCTAs) \
  X(ncclConfig_t, maxCTAs) X(ncclConfig_t, netName) X(ncclConfig_t, splitShare) \
  X(ncclConfig_t, trafficClass) X(ncclConfig_t, commName) X(ncclConfig_t, collnetEnable) \
  X(ncclConfig_t, CTAPolicy) X(ncclConfig_t, shrinkShare) X(ncclConfig_t, nvlsCTAs) \
  X(ncclConfig_t, nChannelsPerNetPeer) X(ncclConfig_t, nvlinkCentricSched)
// clang-format on
