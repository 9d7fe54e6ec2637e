#include "properties/fuzz/mutated_folders.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "properties/fuzz/room.h"
#include "scenarios/language/json_text.h"

namespace adamant::properties {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t numel_max = 64;

std::size_t bytes_of(std::string const& dtype) {
  for (char const* const wide : {"F64", "I64", "U64"})
    if (dtype == wide) return 8;
  for (char const* const half : {"F32", "I32", "U32"})
    if (dtype == half) return 4;
  for (char const* const quarter : {"F16", "BF16", "I16", "U16"})
    if (dtype == quarter) return 2;
  return 1;
}

template <typename List>
auto& any_of(List& list, sim::Prng& draw) {
  return list[draw.below(static_cast<std::uint32_t>(std::size(list)))];
}

class Folder {
 public:
  Folder(std::vector<std::string> const& parts, sim::Prng& draw) : draw_(draw) {
    for (std::string const& part : parts) {
      Json json = scenarios::parse_json<Json>(part, false);
      if (json.is_object()) parts_.push_back(std::move(json));
    }
    has_manifest_ = parts_.size() > 1 && parts_.back().contains("format");
  }

  /// Has it a tensor at all?
  bool is_one() const {
    return std::ranges::any_of(files(), [](Json const& file) { return !names_in(file).empty(); });
  }

  void mutate() {
    Json& file = some_file();
    // Of a folder with a manifest few changes leave all of it right.
    switch (has_manifest_ && draw_.below(4) != 0 ? draw_.below(5) : draw_.below(12)) {
      case 0:
      case 1:
        return retype(file);
      case 2:
      case 3:
        return reorder(file);
      case 4:
        return change_number(any_of(parts_, draw_));
      case 5:
      case 6:
        return add(file);
      case 7:
        return remove(file);
      case 8:
        return rename(file);
      case 9:
        return reshape(file);
      case 10:
        return cut(file);
      default:
        return move_to_another(file);
    }
  }

  std::string text() {
    if (has_manifest_) list_types();
    std::string text;
    for (Json& part : parts_) {
      bool const is_file = !has_manifest_ || &part != &parts_.back();
      if (is_file) lay_out(part);
      text.append(text.empty() ? "" : "\n---\n")
          .append(part.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    if (!has_manifest_ && parts_.size() > 1) text += "\n---\n";  // what is last is one
    return text;
  }

 private:
  std::span<Json const> files() const {
    return std::span(parts_).first(parts_.size() - (has_manifest_ ? 1 : 0));
  }
  static std::vector<std::string> names_in(Json const& file) {
    std::vector<std::string> names;
    for (auto const& [name, entry] : file.items())
      if (name != "__metadata__" && entry.is_object() && entry.contains("dtype") &&
          entry.contains("shape") && entry["dtype"].is_string() && is_shape(entry["shape"]))
        names.push_back(name);
    return names;
  }
  static bool is_shape(Json const& shape) {
    return shape.is_array() && shape.size() < 5 &&
           std::ranges::all_of(shape, [](Json const& extent) {
             return extent.is_number_unsigned() && extent.get<std::uint64_t>() <= numel_max;
           });
  }
  static std::uint64_t numel_of(Json const& entry) {
    std::uint64_t numel = 1;
    for (Json const& extent : entry["shape"]) numel *= extent.get<std::uint64_t>();
    return numel;
  }
  Json& some_file() {
    std::vector<Json*> with_tensors;
    for (std::size_t i = 0; i < files().size(); ++i)
      if (!names_in(parts_[i]).empty()) with_tensors.push_back(&parts_[i]);
    return *any_of(with_tensors, draw_);
  }
  std::string some_name(Json const& file) {
    auto const names = names_in(file);
    return any_of(names, draw_);
  }

  /// Each behind the one before it, in the order in which they are listed.
  static void lay_out(Json& file) {
    std::uint64_t at = 0;
    for (std::string const& name : names_in(file)) {
      std::uint64_t const end = at + numel_of(file[name]) * bytes_of(file[name]["dtype"]);
      file[name]["data_offsets"] = {at, end};
      at = end;
    }
  }

  static bool is_extra(std::string const& name) { return name.find("extra") != name.npos; }

  /// Mostly of a tensor that no engine asks for: without any other a folder is refused.
  std::string some_dispensable(Json const& file) {
    std::vector<std::string> extra = names_in(file);
    std::erase_if(extra, [](std::string const& name) { return !is_extra(name); });
    return extra.empty() || draw_.below(6) == 0 ? some_name(file) : any_of(extra, draw_);
  }

  /// As the files have them, what the manifest says of types.
  void list_types() {
    Json& listed = parts_.back()["tensors"];
    if (!listed.is_array()) return;
    for (Json& tensor : listed)
      for (Json const& file : files())
        if (tensor.is_object() && tensor.contains("key") && tensor["key"].is_string() &&
            file.contains(tensor["key"].get<std::string>()))
          tensor["dtype"] = file[tensor["key"].get<std::string>()].value("dtype", Json());
  }

  /// With all of its kind, or alone: parts of a parameter have to be alike.
  void retype(Json& file) {
    std::string const name = some_name(file);
    static constexpr char const* wide[] = {"F32", "BF16", "F16", "F32", "BF16", "F16", "F64"};
    std::string const dtype = any_of(wide, draw_);
    std::string const kind = name.substr(std::min(name.rfind('.'), name.size()));
    bool const all = draw_.below(3) != 0;
    for (std::string const& other : names_in(file))
      if (other == name || (all && other.ends_with(kind))) file[other]["dtype"] = dtype;
  }
  void retype_alone(Json& file) {
    static constexpr char const* dtypes[] = {"F32",  "F32",     "BF16",   "F16", "F64",
                                             "I64",  "I32",     "I16",    "I8",  "U8",
                                             "BOOL", "F8_E4M3", "F8_E5M2"};
    file[some_name(file)]["dtype"] = any_of(dtypes, draw_);
  }
  void reshape(Json& file) {
    Json& shape = file[some_dispensable(file)]["shape"];
    if (shape.empty() || draw_.below(4) == 0) return shape.push_back(1);
    any_of(shape, draw_) = draw_.below(8);
  }
  void add(Json& file) {
    static constexpr char const* names[] = {"extra",
                                            "model.extra.weight",
                                            "optim.state.w.step2",
                                            "optim.param_groups",
                                            "lr_scheduler.last_epoch",
                                            "rng"};
    std::string const name = any_of(names, draw_) + std::to_string(draw_.below(4));
    file[name] = {{"dtype", "F32"}, {"shape", {draw_.below(5)}}, {"data_offsets", {0, 0}}};
    Json one = {{name, file[name]}};
    retype_alone(one);
    file[name] = one[name];
  }
  void remove(Json& file) { file.erase(some_dispensable(file)); }
  void rename(Json& file) {
    std::string const name = some_name(file);
    static constexpr char const* prefixes[] = {"module.", "model.", "_orig_mod.", "a.",
                                               "optim.state."};
    std::string const prefix = any_of(prefixes, draw_);
    bool const all = draw_.below(2) == 0;
    Json renamed = Json::object();
    for (auto const& [key, entry] : file.items())
      renamed[(all || key == name) && key != "__metadata__" ? prefix + key : key] = entry;
    file = std::move(renamed);
  }
  void reorder(Json& file) {
    std::vector<std::string> keys;
    for (auto const& [key, entry] : file.items()) keys.push_back(key);
    for (std::size_t left = keys.size(); left > 1; --left)
      std::swap(keys[left - 1], keys[draw_.below(static_cast<std::uint32_t>(left))]);
    Json reordered = Json::object();
    for (std::string const& key : keys) reordered[key] = file[key];
    file = std::move(reordered);
  }
  /// Its first rows stay; the others go to another file, as shards do.
  void cut(Json& file) {
    std::string const name = some_name(file);
    Json rest = file[name];
    if (rest["shape"].empty() || rest["shape"][0].get<std::uint64_t>() < 2) return;
    std::uint64_t const rows = rest["shape"][0];
    std::uint64_t const kept = 1 + draw_.below(static_cast<std::uint32_t>(rows) - 1);
    file[name]["shape"][0] = kept;
    rest["shape"][0] = rows - kept;
    Json offsets = Json::array();
    for (std::size_t d = 0; d < rest["shape"].size(); ++d) offsets.push_back(d == 0 ? kept : 0);
    Json const sharding = {{name, {{"saved_offsets", offsets}}}};
    insert({{name, rest}, {"__metadata__", {{"DCP_SHARDING_INFO", sharding.dump()}}}});
  }
  void move_to_another(Json& file) {
    std::string const name = some_name(file);
    Json const entry = file[name];
    file.erase(name);
    insert({{name, entry}});
  }
  /// A further file, before the manifest.
  void insert(Json file) { parts_.insert(parts_.end() - (has_manifest_ ? 1 : 0), std::move(file)); }
  void change_number(Json& part) {
    std::vector<Json*> numbers;
    Json const flat = part.flatten();
    for (auto const& [key, entry] : flat.items())
      if (entry.is_number()) numbers.push_back(&part[Json::json_pointer(key)]);
    if (numbers.empty()) return;
    static constexpr double values[] = {0, 1, 2, 3, 0.5, 0.001, 0.9, 1e-8, 5, 1 << 20};
    double const value = any_of(values, draw_);
    auto const whole = static_cast<std::uint64_t>(value);
    *any_of(numbers, draw_) = value == static_cast<double>(whole) ? Json(whole) : Json(value);
  }

  sim::Prng& draw_;
  std::vector<Json> parts_;
  bool has_manifest_ = false;
};

}  // namespace

std::optional<std::string> mutated_folder(std::span<std::byte const> folder, sim::Prng& draw) {
  Folder mutated(split(folder, "---"), draw);
  if (!mutated.is_one()) return std::nullopt;
  for (unsigned count = 1 + draw.below(3); count > 0 && mutated.is_one(); --count) mutated.mutate();
  return mutated.text();
}

}  // namespace adamant::properties
