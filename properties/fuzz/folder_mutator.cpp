// How libFuzzer changes folders: tensor by tensor, and now and then byte by byte.
#include <cstdint>
#include <cstring>

#include "properties/fuzz/mutated_folders.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  adamant::sim::Prng draw(seed);
  if (draw.below(8) == 0) return LLVMFuzzerMutate(data, size, size_max);
  auto const text = adamant::properties::mutated_folder(std::as_bytes(std::span(data, size)), draw);
  if (!text || text->size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
  std::memcpy(data, text->data(), text->size());
  return text->size();
}
