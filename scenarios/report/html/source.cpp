#include "scenarios/report/html/source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace adamant::scenarios {

std::string source_at(Location const& location) {
  std::ifstream in(location.file);
  if (!in) in.open(std::filesystem::path(ADAMANT_SOURCE_DIR) / location.file);
  std::string line;
  for (int i = 0; i < location.line; ++i)
    if (!std::getline(in, line)) return {};
  std::size_t const begin = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace adamant::scenarios
