#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

namespace {

/// Calls `visit` with each sign that stands in no text, as long as it returns true.
template <typename Visit>
void for_each_sign(std::string_view json, Visit const& visit) {
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    char const letter = json[i];
    if (in_text && letter == '\\') ++i;
    if (letter == '"') in_text = !in_text;
    if (!in_text && !visit(letter)) return;
  }
}

}  // namespace

// A callback of the parser could count as well, but with one each object that ends walks along all
// those before it.
bool is_nested_too_deep(std::string_view json) {
  int depth = 0;
  for_each_sign(json, [&](char sign) {
    if (sign == '[' || sign == '{') ++depth;
    if (sign == ']' || sign == '}') --depth;
    return depth <= json_depth_max;
  });
  return depth > json_depth_max;
}

bool has_too_many_keys(std::string_view json) {
  std::vector<int> keys(1);  // of each object that is open
  bool too_many = false;
  for_each_sign(json, [&](char sign) {
    if (sign == '{') keys.push_back(0);
    if (sign == '}' && keys.size() > 1) keys.pop_back();
    if (sign == ':') too_many = ++keys.back() > ordered_keys_max;
    return !too_many;
  });
  return too_many;
}

}  // namespace adamant::scenarios
