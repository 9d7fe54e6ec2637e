// Mutations of a folder that leave its files whole: another type, shape, place or name of a tensor,
// one more or one less, one in two parts, one in another file. Bytes alone would be refused by
// nearly every header.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "properties/fuzz/room.h"
#include "scenarios/language/json_text.h"
#include "sim/world/prng.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t size_max);

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
    switch (draw_.below(12)) {
      case 0:
      case 1:
        return retype(file);
      case 2:
        return reshape(file);
      case 3:
      case 4:
        return add(file);
      case 5:
        return remove(file);
      case 6:
        return rename(file);
      case 7:
      case 8:
        return reorder(file);
      case 9:
        return cut(file);
      case 10:
        return move_to_another(file);
      default:
        return change_number(any_of(parts_, draw_));
    }
  }

  std::string text() {
    std::string text;
    for (Json& part : parts_) {
      bool const is_file = !has_manifest_ || &part != &parts_.back();
      if (is_file) lay_out(part);
      text.append(text.empty() ? "" : "\n---\n")
          .append(part.dump(-1, ' ', false, Json::error_handler_t::replace));
    }
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

  void retype(Json& file) {
    static constexpr char const* dtypes[] = {"F32",  "F32",     "BF16",   "F16", "F64",
                                             "I64",  "I32",     "I16",    "I8",  "U8",
                                             "BOOL", "F8_E4M3", "F8_E5M2"};
    file[some_name(file)]["dtype"] = any_of(dtypes, draw_);
  }
  void reshape(Json& file) {
    Json& shape = file[some_name(file)]["shape"];
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
    retype(one);
    file[name] = one[name];
  }
  void remove(Json& file) { file.erase(some_name(file)); }
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
    auto items = file.get<Json::object_t>();
    std::vector<std::pair<std::string, Json>> list(items.begin(), items.end());
    for (std::size_t left = list.size(); left > 1; --left)
      std::swap(list[left - 1], list[draw_.below(static_cast<std::uint32_t>(left))]);
    file = Json::object();
    for (auto& [key, entry] : list) file[key] = std::move(entry);
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
    for (auto& [key, entry] : part.flatten().items())
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

}  // namespace adamant::properties

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t size_max, unsigned seed) {
  using namespace adamant::properties;
  adamant::sim::Prng draw(seed);
  Folder folder(split(std::as_bytes(std::span(data, size)), "---"), draw);
  if (draw.below(8) == 0 || !folder.is_one()) return LLVMFuzzerMutate(data, size, size_max);
  for (unsigned count = 1 + draw.below(3); count > 0 && folder.is_one(); --count) folder.mutate();
  std::string const text = folder.text();
  if (text.size() > size_max) return LLVMFuzzerMutate(data, size, size_max);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}
