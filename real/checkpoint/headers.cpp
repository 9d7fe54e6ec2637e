#include "real/checkpoint/headers.h"

#include <utility>

#include "real/cuda/assert.h"

namespace adamant::real {

namespace {

void tell_part(SavedPart const& part, NameNumbers& numbers, Message& message) {
  auto const [name, is_new] = numbers.try_emplace(TensorName{part.key, part.dtype}, numbers.size());
  message.add_number(name->second);
  if (is_new) message.add_word(part.key);
  if (is_new) message.add_word(part.dtype);
  message.add_number(part.shape.size());
  message.add_number(part.global_shape.size());
  for (auto const* const extents : {&part.shape, &part.offsets, &part.global_shape})
    for (std::int64_t const extent : *extents)
      message.add_number(static_cast<std::uint64_t>(extent));
  message.add_number(part.begin);
}

}  // namespace

void tell_headers(std::span<FileHeader const> headers, NameNumbers known, Message& message) {
  for (FileHeader const& header : headers) {
    message.add_number(header.file_bytes);
    message.add_number(header.parts.size());
    for (SavedPart const& part : header.parts) tell_part(part, known, message);
  }
}

ToldFile ToldHeaders::file() {
  std::uint64_t const bytes = told_.take_number();
  return {.bytes = bytes, .parts = told_.take_number()};
}

ToldPart ToldHeaders::part() {
  ToldPart part;
  part.number = told_.take_number();
  ADAMANT_REAL_ASSERT(part.number <= known_);
  if (part.number == known_) {
    std::string key = told_.take_word();
    part.name = TensorName{.key = std::move(key), .dtype = told_.take_word()};
    ++known_;
  }
  std::size_t const dimensions = told_.take_number();
  std::size_t const global_dimensions = told_.take_number();
  extents_.resize(2 * dimensions + global_dimensions);
  for (std::int64_t& extent : extents_) extent = static_cast<std::int64_t>(told_.take_number());
  std::span<std::int64_t const> const extents = extents_;
  part.shape = extents.first(dimensions);
  part.offsets = extents.subspan(dimensions, dimensions);
  part.global_shape = extents.subspan(2 * dimensions);
  part.begin = told_.take_number();
  return part;
}

}  // namespace adamant::real
