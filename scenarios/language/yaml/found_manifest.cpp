#include "scenarios/language/yaml/found_manifest.h"

#include <fstream>
#include <sstream>
#include <system_error>

#include "scenarios/language/json_text.h"

namespace adamant::scenarios {

namespace {

constexpr char manifest_name[] = "adamant.json";
constexpr std::uintmax_t bytes_max = 100'000'000;

using Json = nlohmann::json;

Json read_quietly(std::filesystem::path const& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  if (std::filesystem::file_size(path, error) > bytes_max) return {};
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return parse_json<Json>(text.str(), false);
}

}  // namespace

std::optional<FoundManifest> find_manifest(std::filesystem::path const& directory) {
  static Json::json_pointer const where("/body/numbers");
  Json const manifest = read_quietly(directory / manifest_name);
  if (!manifest.contains(where)) return std::nullopt;
  Json const& numbers = manifest.at(where);
  FoundManifest found{.has_loss_scale = numbers.contains("loss_scale")};
  if (auto const norm = numbers.find("clip"); norm != numbers.end() && norm->is_number())
    found.clip = norm->get<float>();
  return found;
}

}  // namespace adamant::scenarios
