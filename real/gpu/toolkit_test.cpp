#include <gtest/gtest.h>

namespace adamant::real {

bool compiled_by_nvcc();

namespace {

// A source property set in one directory turns .cu files into plain C++ everywhere in it, silently.
TEST(Toolkit, KernelsOfTheGpuLibraryAreCompiledByNvcc) {
  EXPECT_TRUE(compiled_by_nvcc());
}

}  // namespace
}  // namespace adamant::real
