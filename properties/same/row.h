// A line of a table of checksums: what it is of, and the checksum of its texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "scenarios/report/provenance.h"

namespace adamant::properties {

inline std::string row_of(std::string_view what, std::string_view texts) {
  return fmt::format("{:<24} {:016x}\n", what, scenarios::checksum_of(texts));
}

}  // namespace adamant::properties
