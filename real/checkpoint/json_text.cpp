#include "real/checkpoint/json_text.h"

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {

namespace {

/// The quote that ends the text which another begins at `begin`, or the end of all. Most of a
/// header is text, which is searched faster than it is walked along.
std::size_t end_of_text(std::string_view json, std::size_t begin) {
  for (std::size_t at = begin + 1;;) {
    std::size_t const quote = json.find('"', at);
    if (quote == std::string_view::npos) return json.size();
    std::size_t escapes = 0;
    while (json[quote - escapes - 1] == '\\') ++escapes;
    if (escapes % 2 == 0) return quote;
    at = quote + 1;
  }
}

}  // namespace

void expect_shallow(std::string_view json, std::string const& where) {
  int depth = 0;
  for (std::size_t i = 0; i < json.size(); ++i) {
    char const letter = json[i];
    if (letter == '"') i = end_of_text(json, i);
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') --depth;
    if (depth > json_depth_max)
      refuse_damaged(where, "is nested deeper than ", std::to_string(json_depth_max),
                     " lists and objects");
  }
}

}  // namespace adamant::real
