#include "scenarios/judge/dump/dump.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <list>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <system_error>
#include <utility>

#include "oracle/formats/formats.h"
#include "scenarios/judge/dump/output_error.h"
#include "scenarios/judge/dump/quantised_tensors.h"
#include "scenarios/judge/dump/safetensors.h"
#include "scenarios/judge/saved/files.h"
#include "scenarios/language/words.h"
#include "scenarios/seam/violation.h"

namespace adamant::scenarios {

namespace {

constexpr char const* marker = "adamant-dump";

void check(std::error_code const& error, std::filesystem::path const& path, char const* what) {
  if (error) throw OutputError(path.string() + ": cannot " + what + ": " + error.message());
}

/// Calls a function of std::filesystem with an error code to fill.
template <typename Call>
auto attempt(std::filesystem::path const& path, char const* what, Call call) {
  std::error_code error;
  auto const result = call(error);
  check(error, path, what);
  return result;
}

void refuse_what_is_no_dump(std::filesystem::path const& directory) {
  bool const there = attempt(directory, "look at", [&](std::error_code& error) {
    return std::filesystem::exists(directory, error);
  });
  if (!there || std::filesystem::exists(directory / marker)) return;
  std::error_code ignored;
  if (std::filesystem::is_directory(directory, ignored) &&
      std::filesystem::is_empty(directory, ignored))
    return;
  throw OutputError(directory.string() +
                    ": exists and is not a dump; it is left as it is, choose another directory");
}

/// Is a checkpoint called like a file that a dump has, or may have?
bool is_name_of_dump(std::string_view name) {
  static std::regex const files("adamant-dump|(initial|(grad|state)_[0-9]+)\\.safetensors");
  return std::regex_match(name.begin(), name.end(), files);
}

/// A range of a tensor, and its numbers.
struct Part {
  ElementRange range;
  std::span<std::byte const> bytes;
  float scale = 1;
};

/// Appends what a rank holds, range by range. False where it does not hold what it says.
bool append_parts(Shard const& shard, std::vector<Part>& parts) {
  if (shard.numel() != numel_of(shard.ranges)) return false;
  std::size_t at = 0;
  for (ElementRange const range : shard.ranges) {
    std::size_t const bytes = static_cast<std::size_t>(range.numel()) * bytes_of(shard.format);
    if (bytes > 0) parts.push_back({range, shard.bytes.subspan(at, bytes), shard.scale});
    at += bytes;
  }
  return true;
}

/// Numbers of a tensor that is written otherwise than it is stored.
using Rooms = std::list<std::vector<float>>;

/// A whole tensor in fp32, whatever it is stored in. Nothing where there is no such tensor; nor
/// where ranks lost elements, hold some twice or show another format, which make up none (the
/// verdict reports them).
std::optional<TensorToWrite> whole(WorldView const& world, ParameterSpec const& spec, int parameter,
                                   TensorKind kind) {
  auto const format = oracle::stored_format(spec.formats, kind);
  if (!format) return std::nullopt;
  TensorToWrite tensor{
      .name = tensor_name(spec.name, kind), .shape = spec.shape, .stored = *format};
  std::vector<Part> parts;
  for (int rank = 0; rank < world.holder_count(kind); ++rank) {
    Shard const shard = world.shard(rank, parameter, kind);
    if (shard.format != *format && !shard.bytes.empty()) return std::nullopt;
    if (!append_parts(shard, parts)) return std::nullopt;
  }
  std::ranges::sort(parts, {}, [](Part const& part) { return part.range.begin; });
  std::int64_t next = 0;
  for (Part const& part : parts) {
    if (part.range.begin != next) return std::nullopt;
    next = part.range.end;
    tensor.parts.push_back(part.bytes);
    if (has_scale(kind, *format, spec.formats.state_scale)) tensor.scales.push_back(part.scale);
  }
  if (next != spec.numel()) return std::nullopt;
  return tensor;
}

/// Adds a tensor in fp32 and, where that differs, once more as it is stored.
void add_state(std::vector<TensorToWrite>& tensors, TensorToWrite tensor) {
  TensorToWrite raw = tensor;
  raw.name += "/raw";
  raw.written = raw.stored;
  tensors.push_back(std::move(tensor));
  if (raw.stored != NumberFormat::fp32) tensors.push_back(std::move(raw));
}

/// By what the raw numbers are multiplied: one number, or one of each rank.
TensorToWrite scale_of(WorldView const& world, ParameterSpec const& spec, int parameter,
                       TensorKind kind, Rooms& rooms) {
  bool const local = spec.formats.state_scale == StateScale::local;
  std::vector<float>& scales = rooms.emplace_back();
  for (int rank = 0; rank < (local ? world.holder_count(kind) : 1); ++rank)
    scales.push_back(world.shard(rank, parameter, kind).scale);
  return {.name = tensor_name(spec.name, kind) + "/scale",
          .shape = {std::ssize(scales)},
          .parts = {std::as_bytes(std::span(scales))}};
}

/// Which elements each rank's scale is of, where each has its own: of every parameter a list of
/// ranges for each rank.
nlohmann::ordered_json ranges_of(WorldView const& world, int parameter) {
  auto ranks = nlohmann::ordered_json::array();
  for (int rank = 0; rank < world.holder_count(TensorKind::exp_avg); ++rank) {
    auto& ranges = ranks.emplace_back(nlohmann::ordered_json::array());
    for (ElementRange const range : world.shard(rank, parameter, TensorKind::exp_avg).ranges)
      ranges.push_back({range.begin, range.end});
  }
  return ranks;
}

/// The same tensor unscaled and clipped, as a step consumes it.
void multiply(TensorToWrite& tensor, RankScaling const& scaling, Rooms& rooms) {
  if (scaling.inverse == 1.0F && scaling.coefficient == 1.0F) return;
  for (auto& part : tensor.parts) {
    std::vector<float>& values = rooms.emplace_back(part.size() / bytes_of(tensor.stored));
    oracle::decode(tensor.stored, part, values);
    for (float& value : values) value = (value * scaling.inverse) * scaling.coefficient;
    part = std::as_bytes(std::span(values));
  }
  tensor.stored = NumberFormat::fp32;
}

/// Where the values are that were drawn: a quantised parameter has only what is left of them.
TensorKind drawn_kind(ParameterSpec const& spec) {
  return spec.formats.recipe ? TensorKind::main : TensorKind::parameter;
}

/// The gradient that a step consumes: the cast copy where there is one.
TensorKind handed_kind(ParameterSpec const& spec) {
  bool const cast = oracle::stored_format(spec.formats, TensorKind::cast_gradient).has_value();
  return cast ? TensorKind::cast_gradient : TensorKind::gradient;
}

std::string numbered(char const* stem, int number) {
  char text[64];
  std::snprintf(text, sizeof text, "%s_%03d.safetensors", stem, number);
  return text;
}

/// Where the dump ends up: a link keeps pointing where it does, its target is replaced.
std::filesystem::path followed(std::filesystem::path const& directory) {
  auto const path = directory.has_filename() ? directory : directory.parent_path();
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  return attempt(path, "follow the link",
                 [&](std::error_code& error) { return std::filesystem::canonical(path, error); });
}

std::filesystem::path beside(std::filesystem::path const& directory, pid_t process) {
  return directory.string() + ".tmp-" + std::to_string(process);
}

/// Removes what this program left under a name of its own. What else has the name stays.
void discard(std::filesystem::path const& temporary) {
  std::error_code ignored;
  if (std::filesystem::symlink_status(temporary, ignored).type() !=
      std::filesystem::file_type::directory)
    return;
  if (std::filesystem::exists(temporary / marker, ignored))
    std::filesystem::remove_all(temporary, ignored);
  else
    std::filesystem::remove(temporary, ignored);  // where it is empty
}

/// Where the dump that was there before waits while the new one takes its place.
std::filesystem::path old_beside(std::filesystem::path const& temporary) {
  return temporary.string() + "-old";
}

}  // namespace

void remove_unfinished_dump(std::filesystem::path const& directory, pid_t process) {
  try {
    auto const place = followed(directory);
    auto const temporary = beside(place, process);
    auto const old = old_beside(temporary);
    std::error_code ignored;
    if (!std::filesystem::exists(place, ignored)) std::filesystem::rename(old, place, ignored);
    discard(temporary);
    discard(old);
  } catch (OutputError const&) {
    return;  // a link to nowhere: no dump was begun behind it
  }
}

void expect_dumpable(std::filesystem::path const& directory) {
  auto const place = followed(directory);
  refuse_what_is_no_dump(place);
  expect_writable(std::filesystem::absolute(place).parent_path());
}

Dump::Dump(std::filesystem::path const& directory, pid_t process, Dumped dumped)
    : directory_(followed(directory)),
      temporary_(beside(directory_, process)),
      dumped_(std::move(dumped)) {
  refuse_what_is_no_dump(directory_);
  discard(temporary_);
  attempt(temporary_, "create", [&](std::error_code& error) {
    std::filesystem::create_directories(std::filesystem::absolute(temporary_).parent_path(), error);
    if (!error && !std::filesystem::create_directory(temporary_, error) && !error)
      error = std::make_error_code(std::errc::file_exists);
    return error;
  });
  std::ofstream file(temporary_ / marker);
  file << "Tensors of a run of adamant; replaced by the next dump to this directory.\n";
  if (file.flush()) return;
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
  throw OutputError((temporary_ / marker).string() + ": cannot write");
}

Dump::~Dump() {
  std::error_code ignored;
  std::filesystem::remove_all(temporary_, ignored);
}

bool Dump::started(WorldView const& world) {
  std::vector<TensorToWrite> tensors;
  for (int parameter = 0; parameter < dumped_.parameter_count; ++parameter) {
    ParameterSpec const& spec = dumped_.spec(parameter);
    auto tensor = whole(world, spec, parameter, drawn_kind(spec));
    if (!tensor) continue;
    tensor->name = spec.name;
    tensors.push_back(std::move(*tensor));
  }
  write_safetensors(temporary_ / "initial.safetensors", tensors);
  return true;
}

// A step keeps the gradient that it consumed, so both files can be written after it.
bool Dump::after(Primitive const& operation, WorldView const& world) {
  if (auto const* save = operation.as<Save>()) write_checkpoint(save->checkpoint, world);
  if (!is<Step>(operation.what)) return true;
  ++steps_;
  write_gradients(world, numbered("grad", steps_));
  write_state(world, numbered("state", steps_));
  return true;
}

void Dump::write_checkpoint(std::string_view name, WorldView const& world) const {
  std::filesystem::path const directory = temporary_ / name;
  if (is_name_of_dump(name))
    throw OutputError((directory_ / name).string() +
                      ": a dump has a file of its own of that name, and the checkpoint would take "
                      "its place; call the checkpoint otherwise");
  attempt(directory, "replace",
          [&](std::error_code& error) { return std::filesystem::remove_all(directory, error); });
  attempt(directory, "create", [&](std::error_code& error) {
    return std::filesystem::create_directory(directory, error);
  });
  for (auto const& [within, bytes] : world.files(name)) {
    auto const path = directory / within;
    attempt(path.parent_path(), "create", [&](std::error_code& error) {
      return std::filesystem::create_directories(path.parent_path(), error);
    });
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<char const*>(bytes.data()), std::ssize(bytes));
    if (!file.flush()) throw OutputError(path.string() + ": cannot write");
  }
}

void Dump::write_gradients(WorldView const& world, std::string const& file) const {
  std::vector<TensorToWrite> tensors;
  Rooms rooms;
  RankScaling const scaling = world.scaling(0);
  for (int parameter = 0; parameter < dumped_.parameter_count; ++parameter) {
    if (!world.has_gradient(0, parameter)) continue;
    ParameterSpec const& spec = dumped_.spec(parameter);
    auto tensor = whole(world, spec, parameter, handed_kind(spec));
    if (!tensor) continue;
    tensor->name = spec.name;
    multiply(*tensor, scaling, rooms);
    tensors.push_back(std::move(*tensor));
  }
  write_safetensors(temporary_ / file, tensors, {{"optimizer", settings_of_step(world)}});
}

// JSON, by parameter; binary32 values as the decimals that lead back to them.
std::string Dump::settings_of_step(WorldView const& world) const {
  nlohmann::ordered_json text = nlohmann::ordered_json::object();
  for (int parameter = 0; parameter < dumped_.parameter_count; ++parameter) {
    ParameterSpec const& spec = dumped_.spec(parameter);
    AdamConfig const& config = dumped_.settings(spec.group);
    auto& settings = text[spec.name];
    settings["mode"] = word_for(config.mode);
    for (AdamNumber const& number : numbers_of_adam())
      settings[std::string(number.name)] = double{config.*number.place};
    settings["bias_correction"] = config.bias_correction;
    settings["skipped"] = world.scaling(0).skipped;
    settings["step"] = world.step_count(0, parameter);
  }
  return text.dump();
}

void Dump::write_state(WorldView const& world, std::string const& file) const {
  std::vector<TensorToWrite> tensors;
  Rooms rooms;
  ByteRooms byte_rooms;
  auto shards = nlohmann::ordered_json::object();
  for (int parameter = 0; parameter < dumped_.parameter_count; ++parameter) {
    ParameterSpec const& spec = dumped_.spec(parameter);
    for (TensorKind const kind : stepped_kinds) {
      auto tensor = whole(world, spec, parameter, kind);
      if (!tensor) continue;
      bool const scaled = has_scale(kind, tensor->stored, spec.formats.state_scale);
      add_state(tensors, std::move(*tensor));
      if (kind == TensorKind::parameter && spec.formats.recipe)
        std::ranges::move(quantised_tensors(world, spec, parameter, byte_rooms),
                          std::back_inserter(tensors));
      if (!scaled) continue;
      tensors.push_back(scale_of(world, spec, parameter, kind, rooms));
      if (spec.formats.state_scale == StateScale::local)
        shards[spec.name] = ranges_of(world, parameter);
    }
  }
  Metadata metadata;
  if (!shards.empty()) metadata["shards"] = shards.dump();
  write_safetensors(temporary_ / file, tensors, metadata);
}

void Dump::commit() {
  refuse_what_is_no_dump(directory_);
  std::filesystem::path const old = old_beside(temporary_);
  std::error_code ignored;
  std::filesystem::rename(directory_, old, ignored);  // nothing there is no error
  std::error_code error;
  std::filesystem::rename(temporary_, directory_, error);
  if (error) std::filesystem::rename(old, directory_, ignored);
  discard(old);
  check(error, directory_, "create");
}

}  // namespace adamant::scenarios
