// What is not about ranks: versions, error texts, memory, and operators of the program's own.

#include <nccl.h>

#include <cstring>

#include "sim/cuda/region.h"
#include "sim/nccl/state.h"

using namespace adamant::sim;

namespace {

ncclResult_t create_operator(Runtime& runtime, ncclRedOp_t* op, void* scalar, ncclDataType_t type,
                             ncclScalarResidence_t residence, ncclComm* comm) {
  ncclResult_t const error = usable(runtime, comm);
  if (error != ncclSuccess) return error;
  if (op == nullptr || scalar == nullptr || type < 0 || type >= ncclNumTypes) {
    return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: null, or no such type");
  }
  if (!is_reducible(type)) {
    return refuse(ncclInvalidArgument, "8-bit floats are moved, not reduced, here");
  }
  UserOperator made{.type = type};
  if (residence == ncclScalarHostImmediate) {
    std::memcpy(made.value.bytes.data(), scalar, element_bytes(type));
  } else if (residence == ncclScalarDevice && region_offset(scalar) < region_bytes) {
    made.on_device = scalar;
  } else {
    return refuse(ncclInvalidArgument, "ncclRedOpCreatePreMulSum: the scalar is elsewhere");
  }
  give(op, static_cast<ncclRedOp_t>(ncclNumOps + comm->operators.size()));
  comm->operators.push_back(made);
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return ncclInvalidArgument;
  give(version, NCCL_VERSION_CODE);
  return ncclSuccess;
}

char const* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

char const* ncclGetLastError(ncclComm_t) {
  return nccl_state().last_error.c_str();
}

ncclResult_t ncclMemAlloc(void** ptr, std::size_t size) {
  return cudaMalloc(ptr, size) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* ptr) {
  return cudaFree(ptr) == cudaSuccess ? ncclSuccess : ncclUnhandledCudaError;
}

ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* op, void* scalar, ncclDataType_t datatype,
                                      ncclScalarResidence_t residence, ncclComm_t comm) {
  return nccl_call([&](Runtime& runtime) {
    return create_operator(runtime, op, scalar, datatype, residence, comm);
  });
}

// What was enqueued has its own copy.
ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
  return nccl_call([&](Runtime& runtime) {
    ncclResult_t const error = usable(runtime, comm);
    if (error != ncclSuccess) return error;
    auto const index = static_cast<std::size_t>(op) - ncclNumOps;
    if (op < ncclNumOps || index >= comm->operators.size() || comm->operators[index].destroyed) {
      return refuse(ncclInvalidArgument, "ncclRedOpDestroy: no such operator");
    }
    comm->operators[index].destroyed = true;
    return ncclSuccess;
  });
}

}  // extern "C"
