#include "scenarios/language/schema/text.h"

#include <algorithm>
#include <stdexcept>

namespace adamant::scenarios {

namespace {

constexpr std::size_t longest_line = 120;

std::string on_one_line(OrderedJson const& json) {
  if (!json.is_structured()) return json.dump();
  std::string text;
  for (auto const& [key, value] : json.items()) {
    if (!text.empty()) text += ", ";
    if (json.is_object()) text += OrderedJson(key).dump() + ": ";
    text += on_one_line(value);
  }
  return json.is_object() ? "{" + text + "}" : "[" + text + "]";
}

/// Where the value that begins at `begin` ends.
std::size_t end_of_value(std::string const& text, std::size_t begin) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    char const c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '{' || c == '[')) {
      ++depth;
    } else if (!quoted && (c == '}' || c == ']')) {
      if (depth == 0) return at;
      --depth;
    } else if (!quoted && depth == 0 && c == ',') {
      return at;
    }
    bool const ends = !quoted && depth == 0 && (c == '}' || c == ']' || c == '"');
    if (ends) return at + 1;
  }
  return text.size();
}

/// Where the value of `key` begins, in the object that begins at `begin`.
std::size_t begin_of_member(std::string const& text, std::size_t begin, std::string const& key) {
  std::size_t at = begin + 1;
  while (at < text.size()) {
    at = text.find('"', at);
    if (at == std::string::npos) break;
    std::size_t const end = end_of_value(text, at);
    std::size_t const value = text.find_first_not_of(" \n", text.find(':', end) + 1);
    if (text.substr(at + 1, end - at - 2) == key) return value;
    at = text.find_first_not_of(" \n", end_of_value(text, value));
    if (at == std::string::npos || text[at] != ',') break;
  }
  throw std::invalid_argument("no key `" + key + "` in that place of the schema");
}

}  // namespace

std::string with_part(std::string text, std::string const& place, OrderedJson const& json) {
  if (OrderedJson::parse(text).at(OrderedJson::json_pointer(place)) == json) return text;
  std::size_t begin = text.find('{');
  std::size_t slash = 0;
  while (slash < place.size()) {
    std::size_t const next = std::min(place.find('/', slash + 1), place.size());
    begin = begin_of_member(text, begin, place.substr(slash + 1, next - slash - 1));
    slash = next;
  }
  std::size_t const line = text.rfind('\n', begin) + 1;
  std::size_t const indent = text.find_first_not_of(' ', line) - line;
  std::string part = text_of(json, indent, text.substr(line + indent, begin - line - indent));
  part.pop_back();  // the end of its line
  return text.replace(line, end_of_value(text, begin) - line, part);
}

std::string text_of(OrderedJson const& json, std::size_t indent, std::string const& before,
                    std::string const& behind) {
  std::string const margin(indent, ' ');
  std::string const line = margin + before + on_one_line(json) + behind;
  if (line.size() <= longest_line || !json.is_structured() || json.empty()) return line + "\n";
  bool const is_object = json.is_object();
  std::string text = margin + before + (is_object ? "{" : "[") + "\n";
  std::size_t left = json.size();
  for (auto const& [key, value] : json.items())
    text += text_of(value, indent + 2, is_object ? OrderedJson(key).dump() + ": " : "",
                    --left > 0 ? "," : "");
  return text + margin + (is_object ? "}" : "]") + behind + "\n";
}

}  // namespace adamant::scenarios
