#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "scenarios/language/json_text.h"
#include "scenarios/peers/client/client.h"
#include "scenarios/seam/result.h"

namespace adamant::scenarios {

namespace {

/// As Python writes it, and the text that the protocol has in its place.
struct BareNumber {
  std::string_view bare;
  std::string_view text;
};

constexpr std::array<BareNumber, 3> bare_numbers{
    BareNumber{"NaN", "nan"}, {"Infinity", "inf"}, {"-Infinity", "-inf"}};
constexpr char mark = 1;  // no text of a reply begins with it

/// The line with a text in the place of each such number: the mark, and what it was.
std::string with_marked_texts(std::string_view line) {
  std::string text;
  bool in_text = false;
  while (!line.empty()) {
    auto const number = std::ranges::find_if(
        bare_numbers, [&](auto const& one) { return !in_text && line.starts_with(one.bare); });
    bool const escapes = in_text && line.front() == '\\';
    if (line.front() == '"') in_text = !in_text;
    bool const found = number != bare_numbers.end();
    std::string_view const part = found ? number->bare : line.substr(0, escapes ? 2 : 1);
    text += found ? fmt::format("\"\\u{:04x}{}\"", int{mark}, part) : std::string(part);
    line.remove_prefix(part.size());
  }
  return text;
}

}  // namespace

std::string bare_number_in(std::string_view line) {
  auto const marked = parse_json<nlohmann::json>(with_marked_texts(line), false);
  if (!marked.is_object()) return "";
  auto const places = marked.flatten();
  for (auto const& [where, value] : places.items()) {
    std::string const text = value.is_string() ? value.get<std::string>() : "";
    for (auto const& number : bare_numbers)
      if (text == mark + std::string(number.bare))
        return fmt::format("{} at {}: {}, write it as \"{}\"", number.bare, where, no_json_number,
                           number.text);
  }
  return "";
}

}  // namespace adamant::scenarios
