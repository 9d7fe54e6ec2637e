// Text that somebody else wrote, as terminals, pages and shells may be given it. What steers a
// terminal, turns the direction of a line or is not to be seen would show a reader something else
// than what is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace adamant::scenarios {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t size = 0;  // bytes; 0: not UTF-8
};

/// The character at the start of `text`, which is not empty; overlong forms and surrogates are
/// none.
CodePoint first_code_point(std::string_view text);

/// Is it a control character (C0, delete, C1), one that turns directions, or one without width?
bool is_control(std::uint32_t code_point);

/// `text` in one line: what is_control(), and each byte that is not UTF-8, as `?`.
std::string printable(std::string_view text);
/// The same, where lines and tabs stay.
std::string printable_lines(std::string_view text);

/// `word` as a shell takes it for one argument.
std::string shell_quoted(std::string_view word);

}  // namespace adamant::scenarios
