#include "scenarios/judge/saved/files.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "scenarios/judge/saved/parts.h"
#include "scenarios/judge/saved/shard_file.h"
#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::json;
using Bytes = std::span<std::byte const>;

constexpr char const* manifest = "adamant.json";

std::int64_t count_in(Json const& json) {
  return whole_number(json.get<double>());
}

void add_shard_file(SavedFiles& saved, Bytes file, FileNumbers const& numbers) {
  for (auto& [key, box] : boxes_in(file)) {
    box.rank = numbers.rank;
    box.file_of_rank = numbers.index;
    saved.tensors[key].push_back(std::move(box));
  }
}

AdamConfig config_of(Json const& group) {
  AdamConfig config{.mode = group.at("mode") == "adamw" ? AdamMode::adamw : AdamMode::adam,
                    .bias_correction = group.at("bias_correction").get<bool>()};
  for (AdamNumber const& number : numbers_of_adam()) {
    Json const& value = group.at(number.key);
    Json const& one = number.beta < 0 ? value : value.at(static_cast<std::size_t>(number.beta));
    config.*number.place = static_cast<float>(one.get<double>());
  }
  return config;
}

oracle::LossScaler scaler_of(Json const& numbers) {
  if (!numbers.contains("loss_scale")) return oracle::LossScaler();
  auto const scale = static_cast<float>(numbers.at("loss_scale").get<double>());
  if (numbers.value("loss_scale_dynamic", 0.0) == 0)
    return oracle::LossScaler({.kind = LossScale::Kind::fixed, .value = scale});
  auto const whole = [&](char const* name) {
    return static_cast<int>(whole_number(numbers.at(name).get<double>(), -1e9, 1e9));
  };
  return {{.kind = LossScale::Kind::dynamic},
          {.scale = scale,
           .growth_tracker = whole("growth_tracker"),
           .hysteresis = whole("hysteresis")}};
}

void add_manifest(SavedFiles& saved, Bytes file) {
  std::string_view const text(reinterpret_cast<char const*>(file.data()), file.size());
  Json const body = parse_json<Json>(text).at("body");
  for (Json const& group : body.at("groups")) {
    saved.groups.emplace(group.at("name").get<std::string>(), config_of(group));
    for (std::string const name : group.at("parameters")) {
      saved.group_steps[name] = count_in(group.at("step"));
      saved.group_of[name] = group.at("name").get<std::string>();
    }
  }
  for (auto const& [name, step] : body.at("parameter_steps").items())
    saved.steps[name] = count_in(step);
  if (body.contains("parts"))
    for (auto const& [name, parts] : body.at("parts").items())
      saved.cut[name] = parts.get<std::vector<std::string>>();
  Json const& numbers = body.at("numbers");
  saved.scaler = scaler_of(numbers);
  if (numbers.contains("clip"))
    saved.max_norm = static_cast<float>(numbers.at("clip").get<double>());
}

/// Copies the rows of the last dimension from one box to where they are in the whole. `stored` are
/// its elements.
template <typename Number>
void copy_box(SavedBox const& box, std::vector<Number> const& stored,
              std::vector<std::int64_t> const& shape, std::vector<Number>& whole) {
  if (stored.empty()) return;
  std::int64_t const row = box.shape.empty() ? 1 : box.shape.back();
  for (std::int64_t begin = 0; begin < std::ssize(stored); begin += row) {
    std::int64_t left = begin;
    std::int64_t to = 0;
    std::int64_t stride = 1;
    for (std::size_t d = box.shape.size(); d-- > 0;) {
      to += (left % box.shape[d] + box.offsets[d]) * stride;
      left /= box.shape[d];
      stride *= shape[d];
    }
    std::copy_n(stored.begin() + begin, row, whole.begin() + to);
  }
}

/// Ranges ascend, and those that touch are one; there is one without elements at most, alone.
void add_range(std::vector<ElementRange>& ranges, ElementRange added) {
  if (!ranges.empty() && added.numel() == 0) return;
  if (!ranges.empty() && ranges.front().numel() == 0) ranges.clear();
  ranges.push_back(added);
  std::ranges::sort(ranges, {}, &ElementRange::begin);
  for (std::size_t i = 1; i < ranges.size();) {
    if (ranges[i - 1].end == ranges[i].begin) {
      ranges[i - 1].end = ranges[i].end;
      ranges.erase(ranges.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
}

void require_inside(SavedBox const& box, std::vector<std::int64_t> const& shape) {
  if (!is_inside(box, shape)) throw std::runtime_error("a saved part lies outside of its tensor");
  if (std::ssize(box.values) != numel_of(box.shape))
    throw std::runtime_error("a saved part has a type that is not known");
}

/// Keys without a prefix, of which one list has to be there.
using Rests = std::vector<std::vector<std::string>>;

/// What completes all of each to keys: the usual, or else anything that ends with a dot.
void find_prefix(SavedFiles const& saved, std::vector<Rests> const& wanted, std::string& prefix) {
  auto const are_keys = [&](std::string const& possible, std::vector<std::string> const& rests) {
    return !rests.empty() && std::ranges::all_of(rests, [&](std::string const& rest) {
      return saved.tensors.contains(possible + rest);
    });
  };
  auto const completes = [&](std::string const& possible) {
    return std::ranges::all_of(wanted, [&](Rests const& one_of) {
      return std::ranges::any_of(one_of,
                                 [&](auto const& rests) { return are_keys(possible, rests); });
    });
  };
  if (wanted.empty() || completes(prefix)) return;
  for (std::vector<std::string> const& rests : wanted.front()) {
    for (auto const& [key, boxes] : saved.tensors) {
      if (rests.empty() || !key.ends_with(rests.front())) continue;
      std::string const possible = key.substr(0, key.size() - rests.front().size());
      if (!possible.empty() && !possible.ends_with('.')) continue;
      if (completes(possible)) prefix = possible;
    }
  }
}

/// A parameter's keys that end so: its own, or those of its parts.
Rests rests_of(SavedName const& name, std::string const& end) {
  Rests rests = {{name.name + end}, {}};
  for (std::string const& part : name.parts) rests.back().push_back(name.name + "." + part + end);
  return rests;
}

void find_prefixes(SavedFiles& saved, std::span<SavedName const> names) {
  std::vector<Rests> weights;
  std::vector<Rests> states;
  for (SavedName const& name : names) {
    weights.push_back(rests_of(name, ""));
    for (char const* const what : {".exp_avg", ".exp_avg_sq", ".step"})
      states.push_back(rests_of(name, what));
  }
  find_prefix(saved, weights, saved.weight_prefix);
  find_prefix(saved, states, saved.state_prefix);
}

}  // namespace

bool is_inside(SavedBox const& box, std::span<std::int64_t const> shape) {
  bool inside = box.shape.size() == shape.size();
  for (std::size_t d = 0; inside && d < shape.size(); ++d)
    inside = box.offsets[d] + box.shape[d] <= shape[d];
  return inside;
}

std::int64_t whole_number(double number, double least, double most) {
  if (!(number >= least && number <= most) || number != std::trunc(number))
    throw std::runtime_error("a saved count is no whole number that it can be");
  return static_cast<std::int64_t>(number);
}

std::vector<SavedBox> const* SavedFiles::find(std::string const& key) const {
  auto const found = tensors.find(key);
  return found == tensors.end() ? nullptr : &found->second;
}

std::optional<double> SavedFiles::step(std::string const& parameter) const {
  auto const* const boxes = find(state_prefix + parameter + ".step");
  return boxes == nullptr ? std::nullopt : one_number(*boxes);
}

std::optional<double> one_number(std::vector<SavedBox> const& boxes) {
  if (boxes.size() != 1 || boxes.front().values.size() != 1) return std::nullopt;
  SavedBox const& box = boxes.front();
  return box.wide.empty() ? double{box.values.front()} : box.wide.front();
}

std::string SavedFiles::key_of(std::string const& name, TensorKind kind) const {
  if (kind == TensorKind::parameter) return weight_prefix + name;
  return state_prefix + name + "." + std::string(name_of(kind));
}

SavedTensor SavedFiles::tensor(std::string const& parameter, TensorKind kind) const {
  std::string const key = key_of(parameter, kind);
  return {.values = find(key),
          .raw = find(key + "/raw"),
          .scale = find(key + "/scale"),
          .in_parts = in_parts.contains(parameter)};
}

std::vector<SavedBox> const* SavedFiles::written(std::string const& name, TensorKind kind,
                                                 std::string const& end) const {
  std::string const key = key_of(name, kind) + end;
  auto const part = parts.find(key);
  return part != parts.end() ? &part->second : find(key);
}

SavedFiles read_saved_files(std::span<StoredFile const> files, std::span<SavedName const> names) {
  SavedFiles saved;
  int others = -1;  // files that are not called by ranks count as one of a rank each
  for (StoredFile const& file : files) {
    FileNumbers numbers = numbers_in(file.name);
    if (numbers.rank < 0) numbers.rank = others--;
    if (file.name.ends_with(".safetensors")) add_shard_file(saved, file.bytes, numbers);
    if (file.name == manifest) add_manifest(saved, file.bytes);
  }
  std::vector<SavedName> known(names.begin(), names.end());
  for (SavedName& name : known)
    if (auto const cut = saved.cut.find(name.name); name.parts.empty() && cut != saved.cut.end())
      name.parts = cut->second;
  find_prefixes(saved, known);
  for (SavedName const& name : known) join_parts(saved, name);
  return saved;
}

std::vector<SavedName> names_of(oracle::Model const& model) {
  std::vector<SavedName> names;
  for (int p = 0; p < model.parameter_count(); ++p)
    names.push_back({model.spec(p).name, model.spec(p).parts});
  return names;
}

std::vector<float> put_together(std::vector<SavedBox> const& boxes,
                                std::vector<std::int64_t> const& shape) {
  std::vector<float> whole(static_cast<std::size_t>(numel_of(shape)));
  for (SavedBox const& box : boxes) {
    require_inside(box, shape);
    copy_box(box, box.values, shape, whole);
  }
  return whole;
}

std::vector<std::uint8_t> bytes_together(std::vector<SavedBox> const& boxes,
                                         std::vector<std::int64_t> const& shape) {
  std::vector<std::uint8_t> whole(static_cast<std::size_t>(numel_of(shape)));
  for (SavedBox const& box : boxes) {
    require_inside(box, shape);
    if (box.format != NumberFormat::fp8) throw std::runtime_error("a saved part has no bytes");
    copy_box(box, box.bytes, shape, whole);
  }
  return whole;
}

// A scale of all elements is one number in one file; others stand in a file of the rank that has
// written their shard, each of whose boxes is a range of elements.
SavedScales put_together(SavedTensor const& tensor, std::vector<std::int64_t> const& shape) {
  SavedScales together;
  std::map<int, float> by_rank;
  for (SavedBox const& box : *tensor.scale)
    if (!box.values.empty()) by_rank[box.rank] = box.values.front();
  if (by_rank.empty()) throw std::runtime_error("a saved scale has no number");
  if (tensor.scale->size() == 1) return {.shards = {}, .scales = {by_rank.begin()->second}};
  std::map<int, std::vector<ElementRange>> ranges;
  for (SavedBox const& box : *tensor.raw) {
    require_inside(box, shape);
    std::int64_t begin = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) begin = begin * shape[d] + box.offsets[d];
    add_range(ranges[box.rank], {.begin = begin, .end = begin + std::ssize(box.values)});
  }
  for (auto& [rank, shard] : ranges) {
    together.shards.push_back(std::move(shard));
    together.scales.push_back(by_rank.at(rank));
  }
  return together;
}

std::vector<float> worth_as_stored(SavedTensor const& tensor, SavedScales const& scales,
                                   std::vector<std::int64_t> const& shape) {
  std::vector<float> worth = put_together(*tensor.raw, shape);
  if (scales.shards.empty() && !scales.scales.empty())
    for (float& number : worth) number *= scales.scales.front();
  for (std::size_t s = 0; s < scales.shards.size(); ++s)
    for (ElementRange const range : scales.shards[s])
      for (float& number : std::span(worth).subspan(range.begin, range.numel()))
        number *= scales.scales[s];
  return worth;
}

}  // namespace adamant::scenarios
