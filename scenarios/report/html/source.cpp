#include "scenarios/report/html/source.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>

#include "scenarios/language/regular_file.h"

namespace adamant::scenarios {

namespace {

/// A journal may name any file, and a page is shown to others: of sources alone it has lines.
std::optional<std::string> text_of(std::filesystem::path const& file) {
  constexpr auto endings = std::to_array<std::string_view>(
      {".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".inc", ".inl", ".py"});
  if (std::ranges::find(endings, file.extension().string()) == endings.end()) return std::nullopt;
  return read_regular_file(file, std::uint64_t{8} << 20U);
}

}  // namespace

std::string source_at(Location const& location) {
  std::istringstream in(
      text_of(location.file)
          .value_or(
              text_of(std::filesystem::path(ADAMANT_SOURCE_DIR) / location.file).value_or("")));
  std::string line;
  for (int i = 0; i < location.line; ++i)
    if (!std::getline(in, line)) return {};
  std::size_t const begin = std::min(line.find_first_not_of(" \t"), line.size());
  return line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
}

}  // namespace adamant::scenarios
