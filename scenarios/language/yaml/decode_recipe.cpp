// The odd values of a recipe: betas, the norm of clip, loss scales, groups.

#include "scenarios/language/yaml/kinds_in_words.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

/// What is written where no word is.
std::optional<float> read_number(Reader& reader, Field const& field, std::string const& expected) {
  if (field.node->kind != Node::Kind::scalar || field.node->is(ScalarKind::text))
    return reader.mismatch(field, expected);
  return read_value(reader, field, kinds::Real{RealRange::positive});
}

}  // namespace

Read<kinds::Betas> read_value(Reader& reader, Field const& field, kinds::Betas kind) {
  if (field.node->items.size() != 2) return reader.mismatch(field, values_of(kind));
  auto const betas = read_items<float>(reader, field, values_of(kind), [&](Field const& item) {
    return read_value(reader, item, kinds::Real{RealRange::below_one});
  });
  if (!betas) return std::nullopt;
  return std::array{betas->front(), betas->back()};
}

Read<kinds::Norm> read_value(Reader& reader, Field const& field, kinds::Norm kind) {
  if (field.node->is_word("none")) return Read<kinds::Norm>(std::in_place);
  auto const norm = read_number(reader, field, values_of(kind));
  if (!norm) return std::nullopt;
  return Clip(*norm);
}

Read<kinds::Scale> read_value(Reader& reader, Field const& field, kinds::Scale kind) {
  if (field.node->is_word("none")) return LossScale{};
  if (field.node->is_word("dynamic"))
    return LossScale{.kind = LossScale::Kind::dynamic, .value = 0};
  auto const number = read_number(reader, field, values_of(kind));
  if (!number) return std::nullopt;
  return LossScale{LossScale::Kind::fixed, *number};
}

Read<kinds::Groups> read_value(Reader& reader, Field const& field, kinds::Groups kind) {
  if (field.node->kind != Node::Kind::map) return reader.mismatch(field, values_of(kind));
  std::vector<Group> groups;
  for (Entry const& entry : field.node->entries) {
    Field const settings = field.value(entry);
    if (!is_name(entry.key))
      reader.fail(entry.line, settings.path, "expected " + values_of(kinds::Name{}));
    Group& group = groups.emplace_back();
    group.name = entry.key;
    read_map(reader, settings, group.settings);
  }
  return groups;
}

void check_keys(Reader& reader, MapReader const& map, SettingsChange const&) {
  Node const& node = *map.field().node;
  if (node.kind == Node::Kind::map && node.entries.empty())
    reader.fail(map.field(), "expected at least one of " + list_words(key_names<SettingsChange>));
}

}  // namespace adamant::scenarios
