// A driver of NVIDIA's for tests: one GPU, of which it says no more than its name and versions.
// Nothing can run on it.
#include <cstddef>
#include <cstring>

extern "C" {

int cuInit(unsigned) {
  return 0;
}

int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}

int cuDeviceGetName(char* name, int room, int) {
  std::strncpy(name, "NVIDIA H200", static_cast<std::size_t>(room));
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 75 ? 9 : 0;  // the compute capability's first number, and its second
  return 0;
}

int cuDriverGetVersion(int* version) {
  *version = 13010;
  return 0;
}

}  // extern "C"
