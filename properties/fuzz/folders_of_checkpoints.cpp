#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"
#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/manifest.h"
#include "real/testing/edited_files.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/words/sentences.h"
#include "scenarios/runner/run.h"

namespace adamant::properties {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::uint64_t data_bytes_max = 1 << 16;
constexpr std::size_t piece_bytes = 64;

constexpr std::string_view scenario_text = R"(adamant: 1
name: a folder from outside
world: {shard: 2}
params:
  - {name: w, shape: [3, 2]}
  - {name: f, shape: [4, 2], parts: [a, b], precision: {param: fp32, main: none}}
precision: {param: bf16, main: fp32, exp_avg: fp8, exp_avg_sq: bf16}
program:
  - load: {from: c, precision: {param: bf16, main: fp32, exp_avg: fp8, exp_avg_sq: bf16}}
)";

/// 1, 2 and 3 as they are stored.
struct Dtype {
  std::string_view name;
  std::size_t bytes;
  std::array<std::uint64_t, 3> numbers = {1, 2, 3};
};
constexpr auto dtypes =
    std::to_array<Dtype>({{"F64", 8, {0x3ff0000000000000, 0x4000000000000000, 0x4008000000000000}},
                          {"F32", 4, {0x3f800000, 0x40000000, 0x40400000}},
                          {"BF16", 2, {0x3f80, 0x4000, 0x4040}},
                          {"F16", 2, {0x3c00, 0x4000, 0x4200}},
                          {"I64", 8},
                          {"U64", 8},
                          {"I32", 4},
                          {"U32", 4},
                          {"I16", 2},
                          {"U16", 2}});
constexpr Dtype codes = {"U8", 1};

/// One number of a tensor. Of steps there is one, and what is none is another at each place, so
/// that what is loaded from the wrong place is seen.
std::string number_of(std::string const& dtype, bool is_step, std::uint64_t place) {
  auto const* const found = std::ranges::find(dtypes, dtype, &Dtype::name);
  Dtype const& type = found == dtypes.end() ? codes : *found;
  std::uint64_t const bits = type.numbers[is_step ? 1 : place % type.numbers.size()];
  return {reinterpret_cast<char const*>(&bits), type.bytes};
}

/// Begin and end, as far as the entry has them, and no data that would be too large.
std::vector<std::uint64_t> range_of(Json const& entry) {
  std::vector<std::uint64_t> range;
  for (Json const& offset : entry.value("data_offsets", Json::array()))
    if (offset.is_number_unsigned())
      range.push_back(std::min(offset.get<std::uint64_t>(), data_bytes_max));
  return range;
}

/// Numbers at the place of a tensor, where it has one.
void fill(std::string& data, std::string const& key, Json const& entry) {
  if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string()) return;
  auto const range = range_of(entry);
  if (range.size() != 2 || range[0] > range[1]) return;
  std::size_t const bytes = range[1] - range[0];
  std::string numbers;
  for (std::uint64_t place = key.size(); numbers.size() < bytes; ++place)
    numbers += number_of(entry["dtype"], key.ends_with("step"), place);
  data.resize(std::max<std::size_t>(data.size(), range[1]));
  data.replace(range[0], bytes, numbers, 0, bytes);
}

std::string file_of(std::string const& header) {
  std::uint64_t const length = header.size();
  std::string data;
  Json const entries = scenarios::parse_json<Json>(header, false);
  if (entries.is_object())
    for (auto const& [key, entry] : entries.items()) fill(data, key, entry);
  return std::string(reinterpret_cast<char const*>(&length), sizeof length) + header + data;
}

class Folder {
 public:
  Folder() : path_(Room::of_this_process().empty_folder("folder")) {
    fs::create_directories(path_ / "c");
  }

  fs::path const& path() const { return path_; }

  void add_file(std::string const& header) {
    std::string const name = std::to_string(listed_.size()) + ".safetensors";
    std::string const file = file_of(header);
    real::ManifestFile const as = real::listed(name, std::as_bytes(std::span(file)), piece_bytes);
    listed_.push_back(
        {{"name", as.name}, {"bytes", as.bytes}, {"crc32c", real::text_of_pieces(as.pieces)}});
    std::ofstream(path_ / "c" / name, std::ios::binary) << file;
  }

  /// What is no JSON at all is written as it is.
  void add_manifest(std::string const& told) {
    Json body = scenarios::parse_json<Json>(told, false);
    if (body.is_object()) {
      body["files"] = listed_;
      body["piece_bytes"] = piece_bytes;
    }
    std::string const text = body.is_object() ? body.dump() : told;
    std::ofstream(path_ / "c" / real::manifest_name, std::ios::binary)
        << R"({"crc32c":")" << real::text_of_pieces({real::crc32c(std::as_bytes(std::span(text)))})
        << R"(","body":)" << text << "}\n";
  }

 private:
  fs::path path_;
  Json listed_ = Json::array();
};

bool is_of_checkpoints(std::string const& reason) {
  return reason == "damaged_checkpoint" || reason == "incompatible_checkpoint";
}

}  // namespace

bool read_folder(Bytes bytes) {
  Folder folder;
  std::vector<std::string> parts = split(bytes, "---");
  std::string const body = parts.size() > 1 ? parts.back() : "";
  if (parts.size() > 1) parts.pop_back();
  for (std::string const& header : parts) folder.add_file(header);
  if (!body.empty()) folder.add_manifest(body);
  scenarios::LoadOptions beside;
  beside.checkpoints_directory = folder.path();
  auto const scenario = scenarios::load_scenario_text(scenario_text, "folder.yaml", beside);
  scenarios::RunOptions options;
  options.engine = "sim-unchecked";
  options.checkpoints = folder.path();
  auto const result = scenarios::run_scenario(scenario, options);
  bool const refused =
      result.outcome == scenarios::Outcome::refused && is_of_checkpoints(result.reason);
  if (result.outcome == scenarios::Outcome::pass || refused) return !refused;
  std::string what = "a folder is neither loaded nor refused: ";
  what.append(result.reason).append(" ").append(result.message);
  for (scenarios::Violation const& violation : result.violations)
    what.append("\n").append(scenarios::in_one_line(violation));
  throw std::logic_error(what);
}

}  // namespace adamant::properties
