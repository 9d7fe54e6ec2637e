#include "scenarios/language/yaml/scalar.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <system_error>

namespace adamant::scenarios {

namespace {

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Removes the leading decimal digits of `text`; how many there were.
std::size_t skip_digits(std::string_view& text) {
  auto const end = std::find_if_not(text.begin(), text.end(), is_digit);
  auto const count = static_cast<std::size_t>(end - text.begin());
  text.remove_prefix(count);
  return count;
}

void skip_sign(std::string_view& text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
}

/// 0o17 and 0x1F: base and digits, or base 0.
struct Prefixed {
  int base = 0;
  std::string_view digits;
};

Prefixed split_prefix(std::string_view text) {
  if (text.starts_with("0o")) return {8, text.substr(2)};
  if (text.starts_with("0x")) return {16, text.substr(2)};
  return {};
}

bool is_prefixed_integer(std::string_view text) {
  auto const [base, digits] = split_prefix(text);
  auto const allowed = std::string_view("0123456789abcdefABCDEF").substr(0, base == 8 ? 8 : 22);
  return base != 0 && !digits.empty() &&
         digits.find_first_not_of(allowed) == std::string_view::npos;
}

bool is_decimal_integer(std::string_view text) {
  skip_sign(text);
  return skip_digits(text) > 0 && text.empty();
}

bool is_real(std::string_view text) {
  skip_sign(text);
  if (is_one_of(text, {".inf", ".Inf", ".INF"})) return true;
  auto digits = skip_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += skip_digits(text);
  }
  if (digits == 0) return false;
  if (text.starts_with('e') || text.starts_with('E')) {
    text.remove_prefix(1);
    skip_sign(text);
    if (skip_digits(text) == 0) return false;
  }
  return text.empty();
}

template <typename Integer>
std::optional<Integer> to_integer(std::string_view text) {
  auto const prefixed = split_prefix(text);
  if (prefixed.base == 0 && text.starts_with('+')) text.remove_prefix(1);
  auto const digits = prefixed.base == 0 ? text : prefixed.digits;
  Integer value{};
  auto const result = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                      prefixed.base == 0 ? 10 : prefixed.base);
  bool const whole = result.ec == std::errc{} && result.ptr == digits.data() + digits.size();
  return whole ? std::optional(value) : std::nullopt;
}

template <typename Float>
std::string shortest(Float value) {
  char buffer[64];
  auto const end = std::to_chars(std::begin(buffer), std::end(buffer), value).ptr;
  return {std::begin(buffer), end};
}

/// Safe to stand unquoted in block and flow context alike.
bool is_plain_safe(std::string_view text) {
  auto const allowed = [](char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view(" _-./+()").find(c) != std::string_view::npos;
  };
  bool const edges = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                     std::string_view("-.+/()").find(text.front()) == std::string_view::npos;
  return edges && std::all_of(text.begin(), text.end(), allowed) &&
         kind_of_plain(text) == ScalarKind::text;
}

std::string escape(std::string_view text, std::size_t& i) {
  auto const byte = static_cast<unsigned char>(text[i]);
  auto const next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
  if (byte == '"') return "\\\"";
  if (byte == '\\') return "\\\\";
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte < 0x20 || byte == 0x7F) return fmt::format("\\x{:02x}", byte);
  if (byte == 0xC2 && next < 0xA0) {  // U+0080 to U+009F in two bytes
    ++i;
    return fmt::format("\\x{:02x}", next);
  }
  if (text.substr(i, 2) == "\xE2\x80" && i + 2 < text.size()) {  // line and paragraph separators
    auto const last = static_cast<unsigned char>(text[i + 2]);
    if (last == 0xA8 || last == 0xA9) {
      i += 2;
      return fmt::format("\\u20{:02x}", last == 0xA8 ? 0x28 : 0x29);
    }
  }
  if (text.substr(i, 3) == "\xEF\xBB\xBF") {  // a byte order mark in the middle
    i += 2;
    return "\\ufeff";
  }
  return {text[i]};
}

}  // namespace

ScalarKind kind_of_plain(std::string_view text) {
  if (text.empty() || is_one_of(text, {"null", "Null", "NULL", "~"})) return ScalarKind::null;
  if (is_one_of(text, {"true", "True", "TRUE", "false", "False", "FALSE"}))
    return ScalarKind::boolean;
  if (is_decimal_integer(text) || is_prefixed_integer(text)) return ScalarKind::integer;
  if (is_real(text) || is_one_of(text, {".nan", ".NaN", ".NAN"})) return ScalarKind::real;
  return ScalarKind::text;
}

std::optional<std::int64_t> to_int64(std::string_view text) {
  return to_integer<std::int64_t>(text);
}
std::optional<std::uint64_t> to_uint64(std::string_view text) {
  return to_integer<std::uint64_t>(text);
}

double to_double(std::string_view text) {
  if (auto const integer = to_int64(text)) {
    if (*integer != 0) return static_cast<double>(*integer);
  }
  if (text.ends_with("nan") || text.ends_with("NaN") || text.ends_with("NAN")) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (text.ends_with("inf") || text.ends_with("Inf") || text.ends_with("INF")) {
    return text.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }
  // strtod and not from_chars, which calls "too large" and "too small" by the same name. It also
  // reads 0x1F; an octal too large for 64 bits is the one form it would misread.
  if (text.starts_with("0o"))
    return to_uint64(text) ? static_cast<double>(*to_uint64(text)) : HUGE_VAL;
  return std::strtod(std::string(text).c_str(), nullptr);
}

float to_float(double value) {
  // Half a unit beyond the largest binary32 and above, the nearest is infinity; the cast would be
  // undefined there.
  constexpr double first_too_large = 0x1.ffffffp127;
  if (std::fabs(value) >= first_too_large) {
    return std::copysign(std::numeric_limits<float>::infinity(),
                         static_cast<float>(std::copysign(1.0, value)));
  }
  return static_cast<float>(value);
}

std::string write_number(float value) {
  auto const text = shortest(value);
  // The shortest decimal of a binary32 may round differently by way of binary64.
  return to_float(to_double(text)) == value ? text : shortest(static_cast<double>(value));
}

std::string write_number(double value) {
  return shortest(value);
}

std::string write_text(std::string_view text) {
  if (is_plain_safe(text)) return std::string(text);
  std::string quoted = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) quoted += escape(text, i);
  return quoted + "\"";
}

}  // namespace adamant::scenarios
