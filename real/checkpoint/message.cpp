// Numbers are written seven bits a byte, the lowest first, the eighth bit saying that more follow:
// most are small, and none is negative.
#include "real/checkpoint/message.h"

#include <span>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

constexpr std::uint64_t more = 0x80;

}  // namespace

void Message::add_number(std::uint64_t value) {
  for (; value >= more; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | more));
  bytes_.push_back(static_cast<std::byte>(value));
}

void Message::add_word(std::string_view word) {
  add_number(word.size());
  auto const letters = std::as_bytes(std::span(word));
  bytes_.insert(bytes_.end(), letters.begin(), letters.end());
}

std::uint64_t Message::take_number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    ADAMANT_REAL_ASSERT(!at_end());
    auto const byte = static_cast<std::uint8_t>(bytes_[taken_++]);
    ADAMANT_REAL_ASSERT(shift < 63 || byte <= 1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < more) return value;
  }
}

std::string Message::take_word() {
  std::uint64_t const size = take_number();
  ADAMANT_REAL_ASSERT(size <= bytes_.size() - taken_);
  std::string word(reinterpret_cast<char const*>(bytes_.data()) + taken_, size);
  taken_ += size;
  return word;
}

}  // namespace adamant::real
