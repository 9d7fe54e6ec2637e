// What the engine throws when CUDA or NCCL refuses: the call as written, where it stands, and the
// name that the library gives the error. It does not know how to recover; after one of these the
// engine may only be destroyed.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <stdexcept>
#include <string>

namespace adamant::real {

/// Where a failing call stands in the sources.
struct CallSite {
  char const* call = "";
  char const* file = "";
  int line = 0;
};

class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, CallSite const& site);
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

class NcclError : public std::runtime_error {
 public:
  NcclError(ncclResult_t code, CallSite const& site, std::string const& detail);
  ncclResult_t code() const { return code_; }

 private:
  ncclResult_t code_;
};

/// "ncclInvalidUsage" and so on; NCCL itself only has sentences.
char const* name_of(ncclResult_t code);

/// Throws unless `code` is success. A CUDA error that is not sticky is taken off the thread, so
/// that the next call does not report it again.
void check(cudaError_t code, CallSite const& site);
void check(ncclResult_t code, CallSite const& site);

}  // namespace adamant::real

#define ADAMANT_TRY(...) \
  ::adamant::real::check((__VA_ARGS__), ::adamant::real::CallSite{#__VA_ARGS__, __FILE__, __LINE__})
