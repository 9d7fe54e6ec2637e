// The odd values of a recipe: betas, the norm of clip, loss scales, groups.

#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

bool is_scalar(Node const& node) {
  return node.kind == Node::Kind::scalar;
}

bool is_text(Node const& node) {
  return is_scalar(node) && node.scalar == ScalarKind::text;
}

}  // namespace

bool read_value(Reader& reader, Field const& field, kinds::Betas kind,
                std::array<float, 2>& value) {
  if (field.node->kind != Node::Kind::sequence || field.node->items.size() != 2) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  bool const first = reader.real(field.item(0), RealRange::below_one, value[0]);
  bool const second = reader.real(field.item(1), RealRange::below_one, value[1]);
  return first && second;
}

bool read_value(Reader& reader, Field const& field, kinds::Norm kind, Clip& value) {
  Node const& node = *field.node;
  if (is_text(node) && node.text == "none") {
    value.reset();
    return true;
  }
  if (is_text(node) || !is_scalar(node)) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  float norm = 0;
  if (!reader.real(field, RealRange::positive, norm)) return false;
  value = norm;
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::Scale kind, LossScale& value) {
  Node const& node = *field.node;
  if (is_text(node) && node.text == "none") {
    value = {};
    return true;
  }
  if (is_text(node) && node.text == "dynamic") {
    value = {.kind = LossScale::Kind::dynamic, .value = 0};
    return true;
  }
  if (is_text(node) || !is_scalar(node)) {
    reader.mismatch(field, values_of(kind));
    return false;
  }
  float number = 0;
  if (!reader.real(field, RealRange::positive, number)) return false;
  value = {LossScale::Kind::fixed, number};
  return true;
}

bool read_value(Reader& reader, Field const& field, kinds::Groups, std::vector<Group>& value) {
  if (!reader.is_map(field, "groups and what they override")) return false;
  for (Entry const& entry : field.node->entries) {
    Field const settings = field.value(entry);
    if (!is_name(entry.key)) {
      reader.fail(entry.line, settings.path, "expected " + values_of(kinds::Name{}));
    }
    Group& group = value.emplace_back();
    group.name = entry.key;
    read_map(reader, settings, group.settings);
  }
  return true;
}

void check_keys(Reader& reader, MapReader const& map, SettingsChange const&) {
  Node const& node = *map.field().node;
  if (node.kind == Node::Kind::map && node.entries.empty())
    reader.fail(map.field(), "expected at least one of " + list_words(key_names<SettingsChange>));
}

}  // namespace adamant::scenarios
