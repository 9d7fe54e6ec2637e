#include "scenarios/peers/script/python.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace adamant::scenarios::python {

namespace {

char closing(char open) {
  return open == '[' ? ']' : '}';
}

/// Columns are characters, not bytes.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
  }));
}

/// The last space within so many bytes, else the first behind them, at which a line may end: in no
/// text, and before no comment. 0: there is none.
std::size_t last_break(std::string_view source, std::size_t columns) {
  std::size_t found = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < source.size() && (i <= columns || found == 0); ++i) {
    if (in_text && source[i] == '\\')
      ++i;
    else if (source[i] == '"')
      in_text = !in_text;
    else if (!in_text && source.substr(i).starts_with("  #"))
      break;
    else if (!in_text && source[i] == ' ')
      found = i;  // at the beginning of a continuation it is 0, which is none
  }
  return found;
}

/// As Python writes it: a number with a point or an exponent is not an integer.
std::string pointed(std::string text) {
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string flat(Literal const& literal) {
  if (!literal.atom.empty()) return literal.prefix + literal.atom;
  std::string text = literal.prefix + literal.open;
  for (std::size_t i = 0; i < literal.items.size(); ++i) {
    if (i > 0) text += ", ";
    text += flat(literal.items[i]);
  }
  return text + closing(literal.open);
}

Literal atom(std::string text) {
  return {.atom = std::move(text)};
}

Literal list(std::vector<Literal> items) {
  return {.open = '[', .items = std::move(items)};
}

Literal dictionary(std::vector<Literal> items) {
  return {.open = '{', .items = std::move(items)};
}

Literal keyed(std::string_view key, Literal item) {
  item.prefix = quoted(key) + ": ";
  return item;
}

std::size_t atom_count(Literal const& literal) {
  if (!literal.atom.empty()) return 1;
  std::size_t count = 0;
  for (Literal const& item : literal.items) count += atom_count(item);
  return count;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char const c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string number(float x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  std::string const text = fmt::format("{}", x);
  bool const same = static_cast<float>(std::strtod(text.c_str(), nullptr)) == x;
  return same ? pointed(text) : exact_number(x);
}

std::string exact_number(float x) {
  return pointed(fmt::format("{}", static_cast<double>(x)));
}

bool has_word(std::string const& source, std::string const& word) {
  for (char const* const before : {"[", " ", "-"})
    for (char const* const after : {",", "]"})
      if (source.find(before + word + after) != std::string::npos) return true;
  return false;
}

std::size_t line_count(std::string_view source) {
  return static_cast<std::size_t>(std::count(source.begin(), source.end(), '\n'));
}

void Code::line(std::string_view text) {
  if (!text.empty()) text_.append(margin()).append(text);
  text_ += '\n';
}

void Code::blank(int count) {
  text_.append(static_cast<std::size_t>(count), '\n');
}

bool Code::fits(std::string_view text) const {
  return 4 * depth_ + width(text) <= columns_;
}

void Code::assign(std::string_view name, Literal const& value) {
  literal(fmt::format("{} = ", name), value, "");
}

void Code::literal(std::string_view before, Literal const& value, std::string_view after) {
  std::string const whole = fmt::format("{}{}{}", before, flat(value), after);
  if (fits(whole) || value.items.empty()) return line(whole);
  line(fmt::format("{}{}{}", before, value.prefix, value.open));
  indent();
  for (Literal const& item : value.items) literal("", item, ",");
  dedent();
  line(fmt::format("{}{}", closing(value.open), after));
}

void Code::pack(std::string rest) {
  while (!fits(rest)) {
    auto const end = last_break(rest, columns_ - 4 * depth_);
    if (end == 0) break;
    line(rest.substr(0, end));
    rest.erase(0, end);  // a continuation begins with its space
  }
  line(rest);
}

void Code::assign_packed(std::string_view name, Literal const& value) {
  std::string whole = fmt::format("{} = {}", name, flat(value));
  if (!fits(whole)) whole += "  # fmt: skip";
  pack(std::move(whole));
}

void Code::call(std::string_view head, std::vector<std::string> const& arguments,
                std::string_view tail) {
  std::string inside;
  for (std::string const& argument : arguments)
    inside.append(inside.empty() ? "" : ", ").append(argument);
  std::string const whole = fmt::format("{}({}){}", head, inside, tail);
  if (fits(whole)) return line(whole);
  line(fmt::format("{}(", head));
  indent();
  if (fits(inside)) {
    line(inside);
  } else {
    for (std::string const& argument : arguments) line(argument + ",");
  }
  dedent();
  line(fmt::format("){}", tail));
}

}  // namespace adamant::scenarios::python
