#include "scenarios/language/yaml/bytes.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/problem.h"

namespace adamant::scenarios {

namespace {

[[noreturn]] void fail(std::string_view text, std::size_t offset, std::string message) {
  auto const* const begin = text.data();
  auto const line = 1 + static_cast<int>(std::count(begin, begin + offset, '\n'));
  throw BadInput({line, "document", std::move(message)});
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
    auto const [code_point, size] = first_code_point(text.substr(i, 4));
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
