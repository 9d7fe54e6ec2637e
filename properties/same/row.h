// A line of a table of checksums: what it is of, and the checksums of its texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "scenarios/report/provenance.h"

namespace adamant::properties {

template <typename... Texts>
std::string row_of(std::string_view what, Texts const&... texts) {
  return fmt::format("{:<24}", what) +
         (fmt::format(" {:016x}", scenarios::checksum_of(texts)) + ...) + "\n";
}

}  // namespace adamant::properties
