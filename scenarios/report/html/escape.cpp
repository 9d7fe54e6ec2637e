#include "scenarios/report/html/escape.h"

#include <cstddef>

namespace adamant::scenarios {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

unsigned byte_at(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
}

bool continues(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

/// How many bytes the character at `i` has; 0 where none begins there. Neither surrogates nor forms
/// that are longer than they need be are characters.
std::size_t length_at(std::string_view text, std::size_t i) {
  unsigned const first = byte_at(text, i);
  unsigned const second = byte_at(text, i + 1);
  if (first < 0x80U) return 1;
  if (first < 0xC2U || first > 0xF4U || !continues(second)) return 0;
  if (first < 0xE0U) return 2;
  if (!continues(byte_at(text, i + 2))) return 0;
  if (first == 0xE0U && second < 0xA0U) return 0;
  if (first == 0xEDU && second > 0x9FU) return 0;
  if (first < 0xF0U) return 3;
  if (first == 0xF0U && second < 0x90U) return 0;
  if (first == 0xF4U && second > 0x8FU) return 0;
  return continues(byte_at(text, i + 3)) ? 4 : 0;
}

std::string_view written(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    default:
      break;
  }
  bool const control = static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t';
  return control || c == 0x7f ? replacement : std::string_view();
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const length = length_at(text, i);
    std::string_view const instead = length == 0   ? replacement
                                     : length == 1 ? written(text[i])
                                                   : std::string_view();
    std::size_t const taken = length == 0 ? 1 : length;
    result += instead.empty() ? text.substr(i, taken) : instead;
    i += taken;
  }
  return result;
}

}  // namespace adamant::scenarios
