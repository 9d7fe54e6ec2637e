// One reader under libFuzzer: which, the build says. At its end it says how many inputs were taken.
#include <cstdint>
#include <cstdio>

#include "properties/fuzz/readers.h"

namespace {

struct Counts {
  ~Counts() {
    std::fprintf(stderr, "taken: %llu of %llu\n", static_cast<unsigned long long>(taken),
                 static_cast<unsigned long long>(all));
  }
  std::uint64_t taken = 0;
  std::uint64_t all = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  static Counts counts;
  bool const taken = adamant::properties::ADAMANT_FUZZED(std::as_bytes(std::span(data, size)));
  counts.taken += taken ? 1 : 0;
  ++counts.all;
  return 0;
}
