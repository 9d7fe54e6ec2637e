#include "scenarios/campaign/settings.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

#include "scenarios/campaign/error.h"
#include "scenarios/language/yaml/write.h"
#include "scenarios/report/json.h"
#include "scenarios/report/output_file.h"
#include "scenarios/seam/versions.h"
#include "scenarios/search/generate/offers.h"

namespace adamant::scenarios {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t cases_compared = 128;

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
  if (settings.shards == 0) throw std::invalid_argument("shards is 0");
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

/// link(2) fails where the name is taken, and never shows a file that is not whole.
void put_if_absent(std::filesystem::path const& path, std::string const& text) {
  auto const temporary = path.parent_path() / fmt::format(".campaign.{}.tmp", ::getpid());
  write_whole(temporary, text);
  bool const put = ::link(temporary.c_str(), path.c_str()) == 0;
  int const error = errno;
  ::unlink(temporary.c_str());
  if (!put && error != EEXIST)
    throw CannotWrite(path.string() +
                      ": cannot be written: " + std::generic_category().message(error));
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
  std::ifstream in(file_of(directory));
  if (!in) return std::nullopt;
  try {
    return from_json(Json::parse(in));
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
    put_if_absent(file_of(directory), to_text(to_json(wanted_with(asked.value_or(drawn)))));
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
