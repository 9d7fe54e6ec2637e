// Which compiler saw this directory's .cu files; asserted by a test.
#ifndef __CUDACC__
#error "the GPU library needs nvcc"
#endif

namespace adamant::real {

bool compiled_by_nvcc() {
#ifdef __NVCC__
  return true;
#else
  return false;
#endif
}

}  // namespace adamant::real
