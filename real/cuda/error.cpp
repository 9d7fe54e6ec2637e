#include "real/cuda/error.h"

namespace adamant::real {

namespace {

std::string message(CallSite const& site, std::string const& name, std::string const& text) {
  return std::string(site.file) + ":" + std::to_string(site.line) + ": " + site.call + ": " + name +
         " (" + text + ")";
}

}  // namespace

CudaError::CudaError(cudaError_t code, CallSite const& site)
    : std::runtime_error(message(site, cudaGetErrorName(code), cudaGetErrorString(code))),
      code_(code) {}

NcclError::NcclError(ncclResult_t code, CallSite const& site, std::string const& detail)
    : std::runtime_error(message(site, name_of(code), detail)), code_(code) {}

char const* name_of(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "ncclSuccess";
    case ncclUnhandledCudaError:
      return "ncclUnhandledCudaError";
    case ncclSystemError:
      return "ncclSystemError";
    case ncclInternalError:
      return "ncclInternalError";
    case ncclInvalidArgument:
      return "ncclInvalidArgument";
    case ncclInvalidUsage:
      return "ncclInvalidUsage";
    case ncclRemoteError:
      return "ncclRemoteError";
    case ncclInProgress:
      return "ncclInProgress";
    default:
      return "an unknown NCCL error";
  }
}

void check(cudaError_t code, CallSite const& site) {
  if (code == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw CudaError(code, site);
}

void check(ncclResult_t code, CallSite const& site) {
  if (code != ncclSuccess) throw NcclError(code, site, ncclGetErrorString(code));
}

}  // namespace adamant::real
