#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/models.h"
#include "scenarios/language/yaml/read.h"

namespace adamant::scenarios {

namespace {

constexpr IntegerRange row_range{0, std::int64_t{1} << 40};
constexpr std::int64_t numel_max = std::int64_t{1} << 60;
constexpr std::size_t dimensions_max = 64;

/// Elements of a tensor with its empty dimensions counted as 1, so that no partial product of the
/// shape overflows either; none where that is more than numel_max.
std::optional<std::int64_t> extent_of(std::vector<std::int64_t> const& shape) {
  std::int64_t extent = 1;
  for (std::int64_t const size : shape) {
    auto const factor = std::max<std::int64_t>(size, 1);
    if (factor > numel_max / extent) return std::nullopt;
    extent *= factor;
  }
  return extent;
}

void check_total(Reader& reader, Field const& field, std::vector<Param> const& params) {
  std::int64_t total = 0;
  for (Param const& param : params) {
    total += extent_of(param.shape).value_or(0);
    if (total > numel_max)
      return reader.fail(field, "expected at most 2^60 elements in all, found more");
  }
}

}  // namespace

void decode_param_list(Reader& reader, Field const& field, std::vector<Param>& params) {
  if (!reader.is_sequence(field, "parameters {name, shape}, or {model: NAME}")) return;
  if (field.node->items.empty()) return reader.fail(field, "expected at least one parameter");
  std::set<std::string> names;
  for (std::size_t i = 0; i < field.node->items.size(); ++i) {
    Param& param = params.emplace_back();
    param.line = {field.node->items[i]->line};
    read_map(reader, field.item(i), param);
    std::string const& name = param.name;
    if (!name.empty() && !names.insert(name).second) {
      reader.fail(param.line.value, join_path(join_path(field.path, i), "name"),
                  "the parameter " + quote(name) + " is listed twice");
    }
  }
  check_total(reader, field, params);
}

bool read_value(Reader& reader, Field const& field, kinds::Shape,
                std::vector<std::int64_t>& value) {
  if (!reader.is_sequence(field, "sizes, such as [10, 3]")) return false;
  auto const dimensions = field.node->items.size();
  if (dimensions > dimensions_max) {
    reader.fail(field, "expected at most 64 dimensions");
    return false;
  }
  std::vector<std::int64_t> found(dimensions);
  bool good = true;
  for (std::size_t i = 0; i < dimensions; ++i) {
    IntegerRange const range = i == 0 ? row_range : IntegerRange{0, numel_max};
    good = reader.integer(field.item(i), range, found[i]) && good;
  }
  if (good && !extent_of(found)) {
    reader.fail(field, "expected at most 2^60 elements (sizes of 0 count as 1), found more");
    return false;
  }
  if (good) value = std::move(found);
  return good;
}

bool read_value(Reader& reader, Field const& field, kinds::Params, kinds::Params::Value& value) {
  if (field.node->kind != Node::Kind::map) {
    decode_param_list(reader, field, value.list);
    return true;
  }
  static constexpr std::array<std::string_view, 1> keys{"model"};
  MapReader const map(reader, field, keys);
  map.required("model", [&](Field const& f) {
    std::string model;
    if (!reader.name(f, model)) return;
    auto params = find_model(reader.models_directory(), model);
    if (!params) {
      return reader.fail(f, "no model " + quote(model) +
                                " is defined; known: " + known_models(reader.models_directory()));
    }
    value.model = std::move(model);
    value.list = std::move(*params);
    for (Param& param : value.list) param.line = {f.node->line};
  });
  return true;
}

}  // namespace adamant::scenarios
