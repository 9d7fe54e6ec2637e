#include "scenarios/language/yaml/bytes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "scenarios/language/yaml/problem.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void fail(std::string_view text, std::size_t offset, std::string message) {
  auto const* const begin = text.data();
  auto const line = 1 + static_cast<int>(std::count(begin, begin + offset, '\n'));
  throw BadInput({line, "document", std::move(message)});
}

struct Decoded {
  std::uint32_t code_point = 0;
  std::size_t size = 0;  // bytes; 0: not UTF-8
};

std::size_t sequence_size(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

/// The character at the start of `text`, which is not empty; overlong forms and surrogates are
/// none.
Decoded decode(std::string_view text) {
  auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  auto const size = sequence_size(byte(0));
  if (size <= 1 || size > text.size()) return {byte(0), size == 1 ? 1U : 0U};
  std::uint32_t code_point = byte(0) & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  static constexpr std::array<std::uint32_t, 5> smallest{0, 0, 0x80, 0x800, 0x10000};
  bool const surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < smallest[size] || code_point > 0x10FFFF || surrogate) return {};
  return {code_point, size};
}

/// YAML 1.2, production c-printable.
bool is_printable(std::uint32_t c) {
  if (c < 0x20) return c == '\t' || c == '\n' || c == '\r';
  if (c < 0x7F) return true;
  if (c < 0xA0) return c == 0x85;
  return c != 0xFFFE && c != 0xFFFF;
}

bool is_indicator(char c) {
  return std::string_view("[]{},:?!&*'\"").find(c) != std::string_view::npos;
}

}  // namespace

void check_bytes(std::string_view text) {
  if (text.size() > size_max) {
    fail(text, 0, "the file has more than 8 MiB; a scenario has at most that");
  }
  std::size_t indicators = 0;
  for (std::size_t i = 0; i < text.size();) {
    auto const [code_point, size] = decode(text.substr(i, 4));
    if (size == 0)
      fail(text, i,
           "expected UTF-8, found the byte " + std::to_string(static_cast<unsigned char>(text[i])));
    if (!is_printable(code_point)) {
      fail(text, i, "expected text, found the control character " + std::to_string(code_point));
    }
    if (is_indicator(text[i]) && ++indicators > indicators_max) {
      fail(text, i, "too many nodes: a scenario has at most 200,000");
    }
    i += size;
  }
}

}  // namespace adamant::scenarios
