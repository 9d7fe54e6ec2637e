#include <algorithm>
#include <set>
#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/models.h"

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

void decode_shape(Reader& reader, Field const& field, std::vector<std::int64_t>& shape) {
  if (!reader.is_sequence(field, "sizes, such as [10, 3]")) return;
  auto const dimensions = field.node->items.size();
  if (dimensions > dimensions_max) return reader.fail(field, "expected at most 64 dimensions");
  std::vector<std::int64_t> found(dimensions);
  bool good = true;
  for (std::size_t i = 0; i < dimensions; ++i) {
    IntegerRange const range = i == 0 ? row_range : IntegerRange{0, numel_max};
    good = reader.integer(field.item(i), range, found[i]) && good;
  }
  if (good && !extent_of(found)) {
    return reader.fail(field, "expected at most 2^60 elements (sizes of 0 count as 1), found more");
  }
  if (good) shape = std::move(found);
}

Param decode_param(Reader& reader, Field const& field) {
  Param param;
  param.line = {field.node->line};
  MapReader const map(reader, field, keys::param);
  map.required("name", [&](Field const& f) { reader.name(f, param.name); });
  map.required("shape", [&](Field const& f) { decode_shape(reader, f, param.shape); });
  map.optional("group", [&](Field const& f) { reader.name(f, param.group); });
  map.optional("precision", [&](Field const& f) { decode_precision(reader, f, param.precision); });
  return param;
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
    params.push_back(decode_param(reader, field.item(i)));
    std::string const& name = params.back().name;
    if (!name.empty() && !names.insert(name).second) {
      reader.fail(params.back().line.value, join_path(join_path(field.path, i), "name"),
                  "the parameter " + quote(name) + " is listed twice");
    }
  }
  check_total(reader, field, params);
}

void decode_params(Reader& reader, Field const& field, LoadOptions const& options,
                   Scenario& scenario) {
  if (field.node->kind != Node::Kind::map) return decode_param_list(reader, field, scenario.params);
  MapReader const map(reader, field, keys::params_from_model);
  map.required("model", [&](Field const& f) {
    std::string model;
    if (!reader.name(f, model)) return;
    auto params = find_model(options.models_directory, model);
    if (!params) {
      return reader.fail(f, "no model " + quote(model) +
                                " is defined; known: " + known_models(options.models_directory));
    }
    scenario.model = std::move(model);
    scenario.params = std::move(*params);
    for (Param& param : scenario.params) param.line = {f.node->line};
  });
}

}  // namespace adamant::scenarios
