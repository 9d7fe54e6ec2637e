// The operations of a program: a bare word, or {word: argument}.
#include "scenarios/language/yaml/read_verb.h"

namespace adamant::scenarios {

bool read_value(Reader& reader, Field const& field, kinds::Operations,
                std::vector<Operation>& value) {
  if (!reader.is_sequence(field, "operations")) return false;
  if (field.node->items.empty()) {
    reader.fail(field, "expected at least one operation");
    return false;
  }
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    Field const item = field.item(i);
    if (auto action = read_action<Action>(reader, item))
      value.push_back({std::move(*action), {item.node->line}});
  }
  return true;
}

}  // namespace adamant::scenarios
