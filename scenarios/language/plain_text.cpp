#include "scenarios/language/plain_text.h"

#include <algorithm>
#include <array>

namespace adamant::scenarios {

namespace {

std::size_t sequence_size(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  if (first >= 0xF0 && first <= 0xF4) return 4;
  return 0;
}

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

/// Source: Unicode 15, categories Cc, Zl and Zp, and what of Cf is in no script.
constexpr auto controls = std::to_array<Range>({
    {0x00, 0x1F},        // C0
    {0x7F, 0x9F},        // delete, C1
    {0xAD, 0xAD},        // soft hyphen
    {0x61C, 0x61C},      // Arabic letter mark
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero width, direction
    {0x2028, 0x202E},    // ends of lines, direction
    {0x2060, 0x206F},    // invisible operators, isolates
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // annotations
    {0xE0000, 0xE007F},  // tags
});

bool needs_no_quotes(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_-./=:,+@%").find(c) != std::string_view::npos;
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string result;
  while (!text.empty()) {
    auto const [value, size] = first_code_point(text);
    std::string_view const taken = text.substr(0, std::max<std::size_t>(size, 1));
    bool const shown =
        kept.find(text.front()) != std::string_view::npos || (size > 0 && !is_control(value));
    result += shown ? taken : "?";
    text.remove_prefix(taken.size());
  }
  return result;
}

}  // namespace

CodePoint first_code_point(std::string_view text) {
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

bool is_control(std::uint32_t code_point) {
  return std::ranges::any_of(controls, [&](Range const& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

std::string printable(std::string_view text) {
  return without_controls(text, "");
}

std::string printable_lines(std::string_view text) {
  return without_controls(text, "\n\t");
}

std::string shell_quoted(std::string_view word) {
  if (!word.empty() && std::ranges::all_of(word, needs_no_quotes)) return std::string(word);
  std::string result = "'";
  for (char const c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace adamant::scenarios
