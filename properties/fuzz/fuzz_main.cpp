// One reader under libFuzzer: which, the build says.
#include <cstdint>

#include "properties/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  adamant::properties::ADAMANT_FUZZED(std::as_bytes(std::span(data, size)));
  return 0;
}
