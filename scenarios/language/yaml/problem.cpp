#include "scenarios/language/yaml/problem.h"

#include <algorithm>

#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {

namespace {

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

}  // namespace

std::string quote(std::string_view text) {
  constexpr std::size_t shown_max = 60;
  std::size_t size = std::min(text.size(), shown_max);
  while (size < text.size() && size > 0 && continues_character(text[size])) --size;
  return "`" + printable(text.substr(0, size)) + (size < text.size() ? "..." : "") + "`";
}

std::string join_path(std::string path, std::string_view key) {
  constexpr std::size_t plain_max = 60;
  bool const plain = !key.empty() && key.size() <= plain_max &&
                     key.find_first_of(" :`\"'[]{},#") == std::string_view::npos &&
                     printable(key) == key;
  if (!path.empty()) path += '.';
  return path + (plain ? std::string(key) : quote(key));
}

std::string join_path(std::string path, std::size_t index) {
  return path + "[" + std::to_string(index) + "]";
}

}  // namespace adamant::scenarios
