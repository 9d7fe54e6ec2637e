// Which errors of the engine a device does not forget: whatever their process asks of it from then
// on fails as well. Who acts on that is not known here.
#pragma once

#include <exception>

#include "real/cuda/error.h"

namespace adamant::scenarios {

/// Those of which driver_types.h says that the process has to be launched anew, and those after
/// which a GPU, or its link, is not what it was.
inline bool is_sticky(cudaError_t code) {
  switch (code) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorExternalDevice:
      return true;
    default:
      return false;
  }
}

/// NCCL does not say which error of CUDA, or what of the system, it has met.
inline bool may_be_sticky(ncclResult_t code) {
  return code == ncclUnhandledCudaError || code == ncclSystemError || code == ncclInternalError ||
         code == ncclRemoteError;
}

inline bool spoils_process(std::exception const& error) {
  if (auto const* cuda = dynamic_cast<real::CudaError const*>(&error))
    return is_sticky(cuda->code());
  auto const* nccl = dynamic_cast<real::NcclError const*>(&error);
  return nccl != nullptr && may_be_sticky(nccl->code());
}

}  // namespace adamant::scenarios
