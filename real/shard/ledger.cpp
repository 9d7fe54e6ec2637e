#include "real/shard/ledger.h"

#include <algorithm>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

auto find(std::vector<Buffer>& buffers, void const* address) {
  return std::find_if(buffers.begin(), buffers.end(),
                      [&](Buffer const& buffer) { return buffer.address == address; });
}

}  // namespace

void Ledger::add(Buffer const& buffer) {
  ADAMANT_REAL_ASSERT(buffer.bytes > 0);
  ADAMANT_REAL_ASSERT(find(buffers_, buffer.address) == buffers_.end());
  buffers_.push_back(buffer);
  std::size_t const i = index(buffer.purpose);
  live_[i] += buffer.bytes;
  peak_[i] = std::max(peak_[i], live_[i]);
  std::size_t const place = buffer.on_host ? 1 : 0;
  live_of_[place][i] += buffer.bytes;
  peak_of_[place][i] = std::max(peak_of_[place][i], live_of_[place][i]);
}

void Ledger::remove(void const* address) {
  auto const found = find(buffers_, address);
  ADAMANT_REAL_ASSERT(found != buffers_.end());
  live_[index(found->purpose)] -= found->bytes;
  live_of_[found->on_host ? 1 : 0][index(found->purpose)] -= found->bytes;
  buffers_.erase(found);
}

}  // namespace adamant::real
