// Numbers are written seven bits a byte, the lowest first, the eighth bit saying that more follow:
// most are small, and none is negative.
#include "real/checkpoint/headers.h"

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

constexpr std::uint64_t more = 0x80;

class Writer {
 public:
  explicit Writer(NameNumbers const& known) : numbers_(known) {}

  void header(FileHeader const& header) {
    number(header.file_bytes);
    number(header.parts.size());
    for (SavedPart const& of_header : header.parts) part(of_header);
  }
  std::string text() && { return std::move(text_); }

 private:
  void part(SavedPart const& part) {
    auto const [name, is_new] =
        numbers_.try_emplace(TensorName{part.key, part.dtype}, numbers_.size());
    number(name->second);
    if (is_new) word(part.key);
    if (is_new) word(part.dtype);
    number(part.shape.size());
    number(part.global_shape.size());
    for (auto const* const extents : {&part.shape, &part.offsets, &part.global_shape})
      for (std::int64_t const extent : *extents) number(static_cast<std::uint64_t>(extent));
    number(part.begin);
  }
  void number(std::uint64_t value) {
    for (; value >= more; value >>= 7) text_.push_back(static_cast<char>(value | more));
    text_.push_back(static_cast<char>(value));
  }
  void word(std::string const& word) {
    number(word.size());
    text_ += word;
  }

  NameNumbers numbers_;
  std::string text_;
};

}  // namespace

std::string text_of_headers(std::span<FileHeader const> headers, NameNumbers const& known) {
  Writer text(known);
  for (FileHeader const& header : headers) text.header(header);
  return std::move(text).text();
}

ToldFile ToldHeaders::file() {
  std::uint64_t const bytes = number();
  return {.bytes = bytes, .parts = static_cast<std::size_t>(number())};
}

ToldPart ToldHeaders::part() {
  ToldPart part;
  part.number = number();
  ADAMANT_REAL_ASSERT(part.number <= known_);
  if (part.number == known_) {
    std::string key = word();
    part.name = TensorName{.key = std::move(key), .dtype = word()};
    ++known_;
  }
  std::size_t const dimensions = number();
  std::size_t const global_dimensions = number();
  extents_.resize(2 * dimensions + global_dimensions);
  for (std::int64_t& extent : extents_) extent = static_cast<std::int64_t>(number());
  std::span<std::int64_t const> const extents = extents_;
  part.shape = extents.first(dimensions);
  part.offsets = extents.subspan(dimensions, dimensions);
  part.global_shape = extents.subspan(2 * dimensions);
  part.begin = number();
  return part;
}

std::uint64_t ToldHeaders::number() {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    ADAMANT_REAL_ASSERT(!rest_.empty() && shift < 64);
    auto const byte = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < more) return value;
  }
}

std::string ToldHeaders::word() {
  std::uint64_t const size = number();
  ADAMANT_REAL_ASSERT(size <= rest_.size());
  std::string word(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return word;
}

}  // namespace adamant::real
