// Clone of CUDA's types: handles, enums, flags and structs of the simulated subset.
//
// Values and layouts are those of CUDA 13.0; a test compares them where a toolkit is installed.
#pragma once

#include <cstddef>

#include "adamant_sim_errors.h"
#include "adamant_sim_names.h"
#include "vector_types.h"

typedef struct CUstream_st* cudaStream_t;
typedef struct CUevent_st* cudaEvent_t;
typedef struct CUmemPoolHandle_st* cudaMemPool_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUgraphExec_st* cudaGraphExec_t;
typedef struct CUgraphNode_st* cudaGraphNode_t;
typedef void (*cudaHostFn_t)(void* userData);

#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(0x1))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(0x2))

#define ADAMANT_SIM_FLAG(name, value) inline constexpr int name = value;
ADAMANT_SIM_CUDA_FLAGS(ADAMANT_SIM_FLAG)
#undef ADAMANT_SIM_FLAG

// Of a fixed type, so that a wrong value is an error to be returned and not undefined behaviour.
#define ADAMANT_SIM_ERROR(name, value, text) name = (value),
enum cudaError : int { ADAMANT_SIM_CUDA_ERRORS(ADAMANT_SIM_ERROR) };
#undef ADAMANT_SIM_ERROR
typedef enum cudaError cudaError_t;

enum cudaMemcpyKind : int { ADAMANT_SIM_CUDA_MEMCPY_KINDS(ADAMANT_SIM_ENUMERATOR) };
enum cudaMemoryType : int { ADAMANT_SIM_CUDA_MEMORY_TYPES(ADAMANT_SIM_ENUMERATOR) };
enum cudaMemPoolAttr : int { ADAMANT_SIM_CUDA_MEM_POOL_ATTRS(ADAMANT_SIM_ENUMERATOR) };
enum cudaMemAllocationType : int { ADAMANT_SIM_CUDA_MEM_ALLOCATION_TYPES(ADAMANT_SIM_ENUMERATOR) };
enum cudaMemAllocationHandleType : int {
  ADAMANT_SIM_CUDA_MEM_HANDLE_TYPES(ADAMANT_SIM_ENUMERATOR)
};
enum cudaMemLocationType : int { ADAMANT_SIM_CUDA_MEM_LOCATION_TYPES(ADAMANT_SIM_ENUMERATOR) };
enum cudaMemAccessFlags : int { ADAMANT_SIM_CUDA_MEM_ACCESS_FLAGS(ADAMANT_SIM_ENUMERATOR) };
enum cudaStreamCaptureStatus : int { ADAMANT_SIM_CUDA_CAPTURE_STATUSES(ADAMANT_SIM_ENUMERATOR) };
enum cudaStreamCaptureMode : int { ADAMANT_SIM_CUDA_CAPTURE_MODES(ADAMANT_SIM_ENUMERATOR) };
enum cudaGraphNodeType : int { ADAMANT_SIM_CUDA_GRAPH_NODE_TYPES(ADAMANT_SIM_ENUMERATOR) };
enum cudaDeviceAttr : int { ADAMANT_SIM_CUDA_DEVICE_ATTRS(ADAMANT_SIM_ENUMERATOR) };
typedef enum cudaLaunchAttributeID : int {
  ADAMANT_SIM_CUDA_LAUNCH_ATTRIBUTES(ADAMANT_SIM_ENUMERATOR)
} cudaLaunchAttributeID;

struct cudaPointerAttributes {
  enum cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;
  long reserved[8];
};

struct cudaMemLocation {
  enum cudaMemLocationType type;
  int id;
};

struct cudaMemAccessDesc {
  struct cudaMemLocation location;
  enum cudaMemAccessFlags flags;
};

struct cudaMemPoolProps {
  enum cudaMemAllocationType allocType;
  enum cudaMemAllocationHandleType handleTypes;
  struct cudaMemLocation location;
  void* win32SecurityAttributes;
  std::size_t maxSize;
  unsigned short usage;
  unsigned char reserved[54];
};

typedef struct cudaGraphEdgeData_st {
  unsigned char from_port;
  unsigned char to_port;
  unsigned char type;
  unsigned char reserved[5];
} cudaGraphEdgeData;

/// Of the toolkit's union only the members whose attributes are simulated; size and alignment are
/// the same.
typedef union alignas(8) cudaLaunchAttributeValue {
  char pad[64];
  int priority;
} cudaLaunchAttributeValue;

typedef struct cudaLaunchAttribute_st {
  cudaLaunchAttributeID id;
  char pad[8 - sizeof(cudaLaunchAttributeID)];
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;

/// A subset of the toolkit's members, so its size and offsets are not the toolkit's.
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int major;
  int minor;
  int multiProcessorCount;
  int integrated;
  int canMapHostMemory;
  int concurrentKernels;
  int asyncEngineCount;
  int unifiedAddressing;
  int maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported;
  int managedMemory;
  int pageableMemoryAccess;
  int canUseHostPointerForRegisteredMem;
  std::size_t sharedMemPerBlockOptin;
  int maxBlocksPerMultiProcessor;
  int hostRegisterSupported;
  int memoryPoolsSupported;
};
