#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

bool read_value(Reader& reader, Field const& field, kinds::Flag, bool& value) {
  return reader.boolean(field, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Real kind, float& value) {
  return reader.real(field, kind.range, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Fraction, double& value) {
  return reader.fraction(field, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Integer kind, std::int64_t& value) {
  return reader.integer(field, kind.range, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Seed, std::uint64_t& value) {
  return reader.seed(field, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Text, std::string& value) {
  return reader.text(field, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Name, std::string& value) {
  return reader.name(field, value);
}

bool read_value(Reader& reader, Field const& field, kinds::Names, std::vector<std::string>& value) {
  if (!reader.is_sequence(field, "parameter names")) return false;
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    std::string name;
    if (reader.name(field.item(i), name)) value.push_back(std::move(name));
  }
  return true;
}

}  // namespace adamant::scenarios
