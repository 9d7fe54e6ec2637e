// Devices: how many, which is current, what they say of themselves, and who reaches whose memory.

#include <cuda_runtime_api.h>

#include <cstdio>

#include "sim/cuda/runtime.h"

using namespace adamant::sim;

namespace {

bool exists(Runtime& runtime, int device) {
  return device >= 0 && device < static_cast<int>(runtime.devices.size());
}

void describe(Runtime& runtime, int device, cudaDeviceProp& properties) {
  properties = {};
  std::snprintf(properties.name, sizeof properties.name, "adamant simulated device %d", device);
  properties.totalGlobalMem = runtime.memory.limit_bytes(device + 1);
  properties.sharedMemPerBlock = 48 << 10;
  properties.sharedMemPerBlockOptin = 227 << 10;
  properties.warpSize = 32;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = 1024;
  properties.maxThreadsDim[2] = 64;
  properties.maxGridSize[0] = 0x7FFFFFFF;
  properties.maxGridSize[1] = properties.maxGridSize[2] = 65535;
  properties.major = 9;
  properties.minor = 0;
  properties.multiProcessorCount = 132;
  properties.canMapHostMemory = 1;
  properties.concurrentKernels = 1;
  properties.asyncEngineCount = 3;
  properties.unifiedAddressing = 1;
  properties.maxThreadsPerMultiProcessor = 2048;
  properties.streamPrioritiesSupported = 1;
  properties.canUseHostPointerForRegisteredMem = 1;
  properties.maxBlocksPerMultiProcessor = 32;
  properties.hostRegisterSupported = 1;
  properties.memoryPoolsSupported = 1;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (count == nullptr) return cudaErrorInvalidValue;
    give(count, static_cast<int>(runtime.devices.size()));
    return cudaSuccess;
  });
}

cudaError_t cudaSetDevice(int device) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (!exists(runtime, device)) return cudaErrorInvalidDevice;
    runtime.host().device = device;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (device == nullptr) return cudaErrorInvalidValue;
    give(device, runtime.host().device);
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!exists(runtime, device)) return cudaErrorInvalidDevice;
    cudaDeviceProp described = {};
    describe(runtime, device, described);
    give(properties, described);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (value == nullptr) return cudaErrorInvalidValue;
  cudaError_t const error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return error;
  switch (attribute) {
#define ADAMANT_SIM_ATTRIBUTE(name, member)           \
  case name:                                          \
    give(value, static_cast<int>(properties.member)); \
    return cudaSuccess;
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrMaxThreadsPerBlock, maxThreadsPerBlock)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrMaxSharedMemoryPerBlock, sharedMemPerBlock)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrWarpSize, warpSize)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrMultiProcessorCount, multiProcessorCount)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrComputeCapabilityMajor, major)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrComputeCapabilityMinor, minor)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrMaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrMemoryPoolsSupported, memoryPoolsSupported)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrHostRegisterSupported, hostRegisterSupported)
    ADAMANT_SIM_ATTRIBUTE(cudaDevAttrCanUseHostPointerForRegisteredMem,
                          canUseHostPointerForRegisteredMem)
#undef ADAMANT_SIM_ATTRIBUTE
    default:
      return cudaErrorInvalidValue;
  }
}

cudaError_t cudaDeviceReset() {
  return cudaDeviceSynchronize();
}

cudaError_t cudaSetDeviceFlags(unsigned int) {
  return call([&](Runtime&) { return cudaSuccess; });
}

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return cudaErrorInvalidValue;
  give(version, CUDART_VERSION);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return cudaDriverGetVersion(version);
}

cudaError_t cudaDeviceCanAccessPeer(int* result, int device, int peer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    if (result == nullptr) return cudaErrorInvalidValue;
    if (!exists(runtime, device) || !exists(runtime, peer)) return cudaErrorInvalidDevice;
    give(result, device != peer);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return call([&](Runtime& runtime) -> cudaError_t {
    int const device = runtime.host().device;
    if (flags != 0) return cudaErrorInvalidValue;
    if (!exists(runtime, peer) || peer == device) return cudaErrorInvalidDevice;
    if (runtime.watch.peer_allowed(device, peer)) return cudaErrorPeerAccessAlreadyEnabled;
    runtime.watch.allow_peer(device, peer, true);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](Runtime& runtime) -> cudaError_t {
    int const device = runtime.host().device;
    if (!exists(runtime, peer)) return cudaErrorInvalidDevice;
    if (!runtime.watch.peer_allowed(device, peer)) return cudaErrorPeerAccessNotEnabled;
    runtime.watch.allow_peer(device, peer, false);
    return cudaSuccess;
  });
}

}  // extern "C"
