#include "oracle/reduce/mean.h"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "oracle/check.h"

namespace adamant::oracle {
namespace {

using Values = Eigen::Map<Eigen::ArrayXf>;

// 32 KiB a block, so that the sum and one microbatch share a core's cache.
constexpr std::int64_t mean_block_numel = 8192;
constexpr int count_max = 1 << 24;

}  // namespace

void mean_over_microbatches(int count, MicrobatchReader const& read, std::span<float> mean) {
  check(count >= 1, "a mean needs a microbatch");
  check(count <= count_max, "the number of microbatches is exact in binary32");
  std::vector<float> microbatch(
      static_cast<std::size_t>(std::min(std::ssize(mean), mean_block_numel)));
  for (std::int64_t begin = 0; begin < std::ssize(mean); begin += mean_block_numel) {
    auto const numel = std::min(mean_block_numel, std::ssize(mean) - begin);
    auto const out = mean.subspan(begin, numel);
    Values sum(out.data(), numel);
    read(0, begin, out);
    for (int index = 1; index < count; ++index) {
      read(index, begin, std::span(microbatch).first(numel));
      sum += Values(microbatch.data(), numel);
    }
    sum = sum / static_cast<float>(count);
  }
}

}  // namespace adamant::oracle
