// Where tensors lie in a buffer that they share. Numbers only: elements of the buffer, no ranks'
// memory, no bytes. By which rule they lie there is said in a file of each layout's name.
#pragma once

#include <cstdint>
#include <vector>

namespace adamant::real {

struct TensorSize {
  std::int64_t numel = 0;
  std::int64_t row_numel = 0;  // of one index of dimension 0
};

/// Units: elements.
struct Placement {
  std::vector<std::int64_t> offsets;  // of the tensors, in the order in which they were given
  std::int64_t numel = 0;             // of the buffer, padding included
};

inline std::int64_t round_up(std::int64_t count, std::int64_t multiple) {
  return (count + multiple - 1) / multiple * multiple;
}

}  // namespace adamant::real
