#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "scenarios/language/yaml/decode.h"
#include "scenarios/language/yaml/kinds_in_words.h"
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
    if (total <= numel_max) continue;
    reader.fail(field, "expected at most 2^60 elements in all, found more");
    return;
  }
}

/// A tied parameter names an earlier one, which is not tied itself. `earlier` are those before it.
void check_tied(Reader& reader, std::vector<Param> const& params, std::size_t place,
                std::map<std::string_view, Param const*> const& earlier, std::string const& path) {
  Param const& param = params[place];
  auto const found = earlier.find(param.tied);
  if (found != earlier.end() && !found->second->is_tied()) return;
  std::string message = "expected an earlier parameter, found " + quote(param.tied) + ", which ";
  if (param.tied == param.name) {
    message += "is this one";
  } else if (found != earlier.end()) {
    message += "is tied to " + quote(found->second->tied) + " itself; name that one";
  } else {
    auto const end = params.begin() + static_cast<std::ptrdiff_t>(place);
    bool const later = std::any_of(end, params.end(),
                                   [&](Param const& other) { return other.name == param.tied; });
    message += later ? "is listed later; exchange the two" : "is not listed";
  }
  reader.fail(param.line.value, join_path(path, "tied"), message);
}

/// Keys of checkpoints, without what is before and behind the names of parameters and parts.
class CheckpointKeys {
 public:
  explicit CheckpointKeys(std::vector<Param> const& params) {
    for (Param const& param : params) {
      if (param.is_tied()) continue;
      wholes_.insert(param.name);
      for (std::string const& part : param.parts) parts_[param.name + "." + part].push_back(&param);
    }
  }

  /// What else has the key of a part of `param`, or "" where nothing has.
  std::string same_as(std::string const& key, Param const& param) const {
    if (wholes_.contains(key)) return "that of the parameter " + quote(key);
    for (Param const* const other : parts_.at(key))
      if (other != &param) return "that of a part of the parameter " + quote(other->name);
    return "";
  }

 private:
  std::set<std::string> wholes_;
  std::map<std::string, std::vector<Param const*>> parts_;
};

/// Every tensor of a checkpoint has a key of its own, whichever prefix somebody else gives it.
void check_part_keys(Reader& reader, std::vector<Param> const& params, std::string const& path) {
  CheckpointKeys const keys(params);
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].is_tied()) continue;  // what it has of its own is a mistake, reported elsewhere
    for (std::size_t part = 0; part < params[i].parts.size(); ++part) {
      std::string const key = params[i].name + "." + params[i].parts[part];
      std::string const same = keys.same_as(key, params[i]);
      if (same.empty()) continue;
      reader.fail(
          params[i].line.value, join_path(join_path(join_path(path, i), "parts"), part),
          "its key in checkpoints, " + quote(key) + ", is " + same + "; rename one of them");
    }
  }
}

}  // namespace

// What the parts are of has to be known, and that it is a matrix that they cut into equal ones.
void check_keys(Reader& reader, MapReader const& map, Param const& param) {
  if (auto const tied = map.find("tied")) {
    for (std::string_view const key : {"shape", "group", "precision", "parts"})
      if (auto const field = map.find(key))
        reader.fail(*field, "a tied parameter has this of the one that it names; leave out either");
    return;
  }
  auto const parts = map.find("parts");
  if (!parts || param.parts.empty() || !map.find("shape")) return;
  auto const count = static_cast<std::int64_t>(param.parts.size());
  if (param.shape.empty())
    reader.fail(*parts, "expected a shape with rows to cut into parts, found []");
  else if (param.shape.front() % count != 0)
    reader.fail(*parts,
                fmt::format("expected as many parts as cut {} rows into equal ones, found {}",
                            param.shape.front(), count));
}

Read<kinds::Parts> read_value(Reader& reader, Field const& field, kinds::Parts) {
  auto parts = read_items<std::string>(
      reader, field, "a list of names of parts",
      [&](Field const& item) { return read_value(reader, item, kinds::Name{}); });
  if (!parts) return std::nullopt;
  if (parts->empty())
    return reader.fail(field, "expected at least one part; leave out the key where there is none");
  std::set<std::string> taken;
  for (std::size_t i = 0; i < parts->size(); ++i)
    if (std::string const& part = (*parts)[i]; !taken.insert(part).second)
      return reader.fail(field.item(i), "the part " + quote(part) + " is listed twice");
  return parts;
}

Read<kinds::Earlier> read_value(Reader& reader, Field const& field, kinds::Earlier) {
  return read_value(reader, field, kinds::Name{});
}

void decode_param_list(Reader& reader, Field const& field, std::vector<Param>& params) {
  bool const is_list = field.node->kind == Node::Kind::sequence;
  if (!is_list) reader.mismatch(field, values_of(kinds::Params{}));
  if (is_list && field.node->items.empty()) reader.fail(field, "expected at least one parameter");
  std::set<std::string> names;
  for (Field const& item : field.items()) {
    Param& param = params.emplace_back();
    param.line = {item.node->line};
    read_map(reader, item, param);
    if (!param.name.empty() && !names.insert(param.name).second)
      reader.fail(param.line.value, join_path(item.path, "name"),
                  "the parameter " + quote(param.name) + " is listed twice");
  }
  check_total(reader, field, params);
  std::map<std::string_view, Param const*> earlier;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (params[i].is_tied()) check_tied(reader, params, i, earlier, join_path(field.path, i));
    earlier.emplace(params[i].name, &params[i]);
  }
  check_part_keys(reader, params, field.path);
}

Read<kinds::Shape> read_value(Reader& reader, Field const& field, kinds::Shape kind) {
  if (field.node->items.size() > dimensions_max)
    return reader.fail(field, "expected at most 64 dimensions");
  IntegerRange range = row_range;
  auto shape = read_items<std::int64_t>(reader, field, values_of(kind), [&](Field const& item) {
    return read_value(reader, item,
                      kinds::Integer{std::exchange(range, IntegerRange{0, numel_max})});
  });
  if (shape && !extent_of(*shape))
    return reader.fail(field, "expected at most 2^60 elements (sizes of 0 count as 1), found more");
  return shape;
}

Read<kinds::Params> read_value(Reader& reader, Field const& field, kinds::Params) {
  kinds::Params::Value value;
  if (field.node->kind != Node::Kind::map) {
    decode_param_list(reader, field, value.list);
    return value;
  }
  static constexpr std::array<std::string_view, 1> keys{"model"};
  auto const found = MapReader(reader, field, keys).require("model");
  if (found) value.model = read_value(reader, *found, kinds::Name{});
  if (!value.model) return std::nullopt;
  auto params = find_model(reader.models_directory(), *value.model);
  if (!params)
    return reader.fail(*found, fmt::format("no model {} is defined; known: {}", quote(*value.model),
                                           known_models(reader.models_directory())));
  value.list = std::move(*params);
  for (Param& param : value.list) param.line = {found->node->line};
  return value;
}

}  // namespace adamant::scenarios
