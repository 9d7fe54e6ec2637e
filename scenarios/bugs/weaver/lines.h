// Text as lines: line n is element n - 1, without its line end.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace adamant::bugs {

inline std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    std::size_t const end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace adamant::bugs
