#include "scenarios/engines/sticky_errors.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace adamant::scenarios {
namespace {

TEST(StickyErrors, OfADeviceSpoilTheProcess) {
  for (cudaError_t const code :
       {cudaErrorECCUncorrectable, cudaErrorNvlinkUncorrectable, cudaErrorContained,
        cudaErrorIllegalAddress, cudaErrorLaunchTimeout, cudaErrorAssert,
        cudaErrorHardwareStackError, cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc, cudaErrorLaunchFailure,
        cudaErrorTensorMemoryLeak, cudaErrorExternalDevice})
    EXPECT_TRUE(spoils_process(real::CudaError(code, {}))) << code;
  for (cudaError_t const code :
       {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorStreamCaptureUnsupported})
    EXPECT_FALSE(spoils_process(real::CudaError(code, {}))) << code;
}

TEST(StickyErrors, OfNcclMayBeThoseOfADevice) {
  for (ncclResult_t const code :
       {ncclUnhandledCudaError, ncclSystemError, ncclInternalError, ncclRemoteError})
    EXPECT_TRUE(spoils_process(real::NcclError(code, {}, ""))) << code;
  for (ncclResult_t const code : {ncclInvalidArgument, ncclInvalidUsage})
    EXPECT_FALSE(spoils_process(real::NcclError(code, {}, ""))) << code;
}

TEST(StickyErrors, AreNotAllThereAre) {
  EXPECT_FALSE(spoils_process(std::runtime_error("bad luck")));
}

}  // namespace
}  // namespace adamant::scenarios
