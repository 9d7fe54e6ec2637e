#include "oracle/layout/fsdp2.h"

#include <algorithm>

#include "oracle/check.h"

namespace adamant::oracle {

std::int64_t chunk_rows(std::int64_t rows, int count) {
  check(rows >= 0, "a parameter has no negative rows");
  check(count >= 1, "there is a part");
  return rows / count + (rows % count != 0 ? 1 : 0);
}

ElementRange rows_of(std::int64_t rows, Part part) {
  check(part.index >= 0, "parts count from 0");
  check(part.index < part.count, "a part is one of all parts");
  std::int64_t const chunk = chunk_rows(rows, part.count);
  return {.begin = std::min(rows, part.index * chunk),
          .end = std::min(rows, (part.index + 1) * chunk)};
}

}  // namespace adamant::oracle
