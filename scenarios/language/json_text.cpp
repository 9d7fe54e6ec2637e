#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

// A callback of the parser could count as well, but with one each object that ends walks along all
// those before it.
bool is_nested_too_deep(std::string_view json) {
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size() && depth <= json_depth_max; ++i) {
    char const letter = json[i];
    if (in_text && letter == '\\') ++i;
    if (letter == '"') in_text = !in_text;
    if (in_text) continue;
    if (letter == '[' || letter == '{') ++depth;
    if (letter == ']' || letter == '}') --depth;
  }
  return depth > json_depth_max;
}

}  // namespace adamant::scenarios
