// Data are 2 wherever a number of fp32 may stand: a value, a count of steps, a scale.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "properties/fuzz/readers.h"
#include "real/checkpoint/crc32c.h"
#include "real/checkpoint/manifest.h"
#include "real/testing/edited_files.h"
#include "scenarios/language/json_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/words/words.h"
#include "scenarios/runner/run.h"

namespace adamant::properties {

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view border = "\n---\n";
constexpr std::uint64_t data_bytes_max = 1 << 16;
constexpr std::size_t piece_bytes = 64;

constexpr std::string_view scenario_text = R"(adamant: 1
name: a folder from outside
world: {shard: 2}
params:
  - {name: w, shape: [3, 2]}
  - {name: f, shape: [4, 2], parts: [a, b], precision: {param: fp32, main: none}}
precision: {param: bf16, main: fp32, exp_avg: fp8, exp_avg_sq: bf16}
program: [{load: c}]
)";

std::vector<std::string> split(Bytes bytes) {
  std::string const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  std::vector<std::string> parts;
  for (std::size_t begin = 0;;) {
    std::size_t const end = text.find(border, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + border.size();
  }
}

/// How far the data of a header reach, as far as it is one.
std::uint64_t data_bytes(Json const& header) {
  std::uint64_t bytes = 0;
  for (Json const& entry : header)
    if (entry.is_object() && entry.contains("data_offsets"))
      for (Json const& offset : entry["data_offsets"])
        if (offset.is_number_unsigned()) bytes = std::max(bytes, offset.get<std::uint64_t>());
  return std::min(bytes, data_bytes_max);
}

std::string file_of(std::string const& header) {
  std::uint64_t const length = header.size();
  std::string file(reinterpret_cast<char const*>(&length), sizeof length);
  file += header;
  std::uint64_t const bytes = data_bytes(scenarios::parse_json<Json>(header, false));
  std::string const two("\0\0\0\x40", 4);
  for (std::uint64_t at = 0; at < bytes; ++at) file += two[at % two.size()];
  return file;
}

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("adamant-fuzz-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_ / "c");
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(Folder const&) = delete;

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

void load_folder(Bytes bytes) {
  Folder folder;
  std::vector<std::string> parts = split(bytes);
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
  if (result.outcome == scenarios::Outcome::pass || refused) return;
  std::string what = "a folder is neither loaded nor refused: ";
  what.append(result.reason).append(" ").append(result.message);
  for (scenarios::Violation const& violation : result.violations)
    what.append("\n").append(scenarios::in_one_line(violation));
  throw std::logic_error(what);
}

}  // namespace adamant::properties
