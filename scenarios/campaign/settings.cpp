#include "scenarios/campaign/settings.h"

#include <fmt/format.h>

#include <system_error>

#include "scenarios/language/json_text.h"
#include "scenarios/language/regular_file.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/json.h"
#include "scenarios/report/output_file.h"
#include "scenarios/seam/versions.h"
#include "scenarios/search/generate/offers.h"
#include "scenarios/search/portion.h"

namespace adamant::scenarios {

namespace {

using Json = StrictJson;

constexpr std::uint64_t cases_compared = 128;
constexpr std::uint64_t settings_bytes_max = 1U << 20U;

std::filesystem::path file_of(std::filesystem::path const& directory) {
  return directory / "campaign.json";
}

std::string digest_of_first_cases(CaseSearch const& cases) {
  std::string text;
  for (std::uint64_t index = 0; index < cases_compared; ++index)
    text += write_scenario(cases.scenario_of(index));
  return fmt::format("{:016x}", checksum_of(text));
}

Json to_json(CampaignSettings const& settings) {
  return {{"adamant", settings.program.version},
          {"commit", settings.program.commit},
          {"command", "fuzz"},
          {"seed", settings.seed},
          {"shards", settings.shards},
          {"engine", settings.engine},
          {"versions", settings.versions},
          {"bug", settings.bug},
          {"strict", settings.strict},
          {"first_cases", settings.first_cases},
          {"first_full_case", settings.first_full_case},
          {"lacking", settings.lacking.to_string()},
          {"features", settings.features}};
}

CampaignSettings from_json(Json const& json) {
  CampaignSettings settings{.program = {.version = json.at("adamant"), .commit = json.at("commit")},
                            .seed = json.at("seed"),
                            .shards = json.at("shards"),
                            .engine = json.at("engine"),
                            .versions = json.at("versions"),
                            .bug = json.at("bug"),
                            .strict = json.at("strict"),
                            .first_cases = json.at("first_cases"),
                            .first_full_case = json.at("first_full_case"),
                            .lacking = FeatureSet(json.at("lacking").get<std::string>()),
                            .features = json.at("features")};
  if (settings.shards == 0 || settings.shards > shards_max)
    throw std::invalid_argument(fmt::format("expected 1 to {} shards", shards_max));
  if (json.at("lacking").get<std::string>().size() != feature_count)
    throw std::invalid_argument("`lacking` has another number of features");
  return settings;
}

std::vector<std::string> labels() {
  std::vector<std::string> labels;
  for (std::size_t f = 0; f < feature_count; ++f)
    labels.emplace_back(label_of(static_cast<Feature>(f)));
  return labels;
}

std::string or_none(std::string const& text) {
  return text.empty() ? "none" : text;
}

}  // namespace

CampaignSettings settings_of(CaseSearch const& cases, std::uint64_t shards, Writer const& program) {
  return {.program = program,
          .seed = cases.seed(),
          .shards = shards,
          .engine = cases.engine().name,
          .versions = versions_of(cases.engine().name),
          .bug = cases.bug().value_or(""),
          .strict = cases.options().strict,
          .first_cases = digest_of_first_cases(cases),
          .first_full_case = first_full_case(cases.engine()),
          .lacking = lacking(cases.engine().capabilities),
          .features = labels()};
}

std::optional<CampaignSettings> read_settings(std::filesystem::path const& directory) {
  std::error_code unknown;
  if (!std::filesystem::exists(file_of(directory), unknown)) return std::nullopt;
  try {
    auto const text = read_regular_file(file_of(directory), settings_bytes_max);
    if (!text) throw std::invalid_argument("it cannot be read as a regular file");
    return from_json(parse_json<Json>(*text));
  } catch (std::exception const& error) {
    throw CampaignError(
        fmt::format("{}: does not hold the settings of a campaign: {}; use another "
                    "directory",
                    file_of(directory).string(), error.what()));
  }
}

CampaignSettings join_campaign(
    std::filesystem::path const& directory, std::optional<std::uint64_t> asked, std::uint64_t drawn,
    std::function<CampaignSettings(std::uint64_t seed)> const& wanted_with) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw CannotWrite(directory.string() + ": cannot be made: " + error.message());
  auto there = read_settings(directory);
  if (!there)
    OutputFile(file_of(directory))
        .commit_if_absent(to_text(to_json(wanted_with(asked.value_or(drawn)))));
  if (!there) there = read_settings(directory);
  if (!there) throw CampaignError(file_of(directory).string() + ": has gone; call again");
  CampaignSettings const wanted = wanted_with(asked.value_or(there->seed));
  if (std::string const differs = difference(*there, wanted); !differs.empty())
    throw CampaignError(fmt::format("{}: {}; ask for the same, or use another directory",
                                    file_of(directory).string(), differs));
  return wanted;
}

std::string difference(CampaignSettings const& there, CampaignSettings const& wanted) {
  if (there == wanted) return {};
  auto const differ = [](std::string_view what, auto const& is, auto const& asked) {
    return fmt::format("{} is {}, not {}", what, is, asked);
  };
  if (there.seed != wanted.seed) return differ("seed", there.seed, wanted.seed);
  if (there.shards != wanted.shards)
    return differ("the number of shards", there.shards, wanted.shards);
  if (there.engine != wanted.engine) return differ("engine", there.engine, wanted.engine);
  if (there.bug != wanted.bug) return differ("bug", or_none(there.bug), or_none(wanted.bug));
  if (there.strict != wanted.strict) return differ("strict", there.strict, wanted.strict);
  if (there.program.version != wanted.program.version)
    return differ("adamant", there.program.version, wanted.program.version);
  if (there.program.commit != wanted.program.commit)
    return differ("adamant's commit", there.program.commit, wanted.program.commit);
  if (there.versions != wanted.versions)
    return differ("the engine's version", or_none(there.versions), or_none(wanted.versions));
  return "its cases are not those that this program draws";
}

}  // namespace adamant::scenarios
