#include "properties/fuzz/made_seeds.h"

#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/campaign/settings.h"
#include "scenarios/campaign/tally.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/report/json.h"
#include "scenarios/report/testing/violations.h"
#include "scenarios/report/trace/timeline_json.h"

namespace adamant::properties {

namespace {

namespace fs = std::filesystem;
using scenarios::RunResult;
using scenarios::StrictJson;

fs::path const root = ADAMANT_SOURCE_DIR;
constexpr std::size_t source_bytes_max = 16'000;

std::string content_of(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(fs::path const& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

/// All files below `folder` with this ending, by a name that has its folders, too.
template <typename Take>
void for_each_file(fs::path const& folder, std::string_view ending, Take take) {
  for (auto const& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file() || entry.path().extension() != ending) continue;
    std::string name = fs::relative(entry.path(), root).string();
    for (char& c : name)
      if (c == '/') c = '_';
    take(name, content_of(entry.path()));
  }
}

// ---- scenarios and sources ---------------------------------------------------------------------

void add_scenarios(fs::path const& into) {
  for_each_file(root / "scenarios/corpus", ".yaml", [&](auto const& name, auto const& text) {
    for (char const* const reader : {"yaml", "program"}) write(into / reader / name, text);
  });
  for_each_file(root / "scenarios/models", ".yaml", [&](auto const& name, auto const& text) {
    if (text.size() < source_bytes_max) write(into / "lists" / name, text);
  });
}

void add_sources(fs::path const& into) {
  for (char const* const folder : {"real", "sim", "properties"})
    for_each_file(root / folder, ".cu", [&](auto const& name, auto const& text) {
      if (text.size() < source_bytes_max) write(into / "lexer" / name, text);
    });
}

/// A bug with the file that it changes, both under the names that the reader gives them.
void add_bugs(fs::path const& into) {
  static std::regex const id("(^|\n)id: [^\n]*");
  static std::regex const target("(^|\n)--- ([^\n]*)");
  for_each_file(root / "scenarios/bugs", ".diff", [&](auto const& name, std::string const& text) {
    std::smatch found;
    if (!std::regex_search(text, found, target)) return;
    std::string const source = content_of(root / found[2].str());
    if (source.size() > source_bytes_max) return;
    std::string const bug =
        std::regex_replace(std::regex_replace(text, id, "$1id: b"), target, "$1--- real/f.cpp");
    write(into / "bugs" / name, source + "\n====\n" + bug);
  });
}

/// Replies of the recorded session, each to request 0.
void add_replies(fs::path const& into) {
  std::ifstream session(root / "scenarios/engine.session.jsonl");
  int number = 0;
  for (std::string line; std::getline(session, line); ++number) {
    auto json = nlohmann::json::parse(line);
    if (!json.contains("outcome")) continue;
    json["id"] = 0;
    write(into / "replies" / ("session_" + std::to_string(number)), json.dump());
  }
}

// ---- what the program writes -------------------------------------------------------------------

scenarios::Timeline small_timeline() {
  using scenarios::TimelineEvent;
  using scenarios::Track;
  return {.tracks = {{.kind = Track::Kind::host, .rank = 0, .name = "host"},
                     {.kind = Track::Kind::stream, .rank = 0, .name = "comm"},
                     {.kind = Track::Kind::copy_engine, .rank = 0, .name = "engine"}},
          .events = {{.kind = TimelineEvent::Kind::call, .begin_ns = 1, .end_ns = 3, .name = "c"},
                     {.kind = TimelineEvent::Kind::kernel,
                      .track = 1,
                      .begin_ns = 2,
                      .end_ns = 4,
                      .name = "k",
                      .operation = 1,
                      .after = {0},
                      .meeting = 1},
                     {.kind = TimelineEvent::Kind::copy,
                      .track = 1,
                      .copy_engine = 2,
                      .begin_ns = 5,
                      .end_ns = 9,
                      .name = "m",
                      .bytes = 64,
                      .after = {0, 1},
                      .unfinished = true}}};
}

RunResult result_with(std::vector<scenarios::Violation> violations) {
  RunResult result;
  result.name = "what breaks";
  result.engine = "sim";
  result.outcome = violations.empty() ? scenarios::Outcome::pass : scenarios::Outcome::violated;
  result.expected = "pass";
  result.met = violations.empty();
  result.choices = {0, 1, 2};
  result.notes = {"a note"};
  result.timeline = small_timeline();
  for (auto& violation : violations) {
    violation.event = 1;
    for (auto& access : violation.accesses) access.event = 2;
  }
  result.violations = std::move(violations);
  return result;
}

void add_worker_line(fs::path const& path, RunResult const& result) {
  StrictJson line{{"result", scenarios::to_json(result)}};
  line["timeline"] = scenarios::timeline_to_json(result);
  write(path, scenarios::to_line(line));
}

void add_worker_lines(fs::path const& into) {
  add_worker_line(into / "worker/pass", result_with({}));
  int number = 0;
  for (auto const& violation : scenarios::one_of_each())
    add_worker_line(into / "worker" / ("violation_" + std::to_string(number++)),
                    result_with({violation}));
  RunResult planned = result_with({});
  planned.planned = {
      {.mesh = {.shards = 2, .replicas = 1}, .ranks = {{.shards = {0, 1}, .replicas = {0, 0}}}}};
  add_worker_line(into / "worker/planned", planned);
  write(into / "worker/failure", R"({"failure":"no such device","status":3,"late":false})");
}

scenarios::KeptFinding finding_with(scenarios::Violation const& violation) {
  scenarios::KeptFinding kept{.signature = "a", .ingredients = {"b"}, .file = "x.yaml"};
  kept.finding.runs = 5;
  kept.finding.scenario = scenarios::load_scenario_text(
      "{adamant: 1, name: n, world: {shard: 1}, params: [{name: w, shape: [2]}], program: [step]}",
      "x.yaml");
  kept.finding.result = result_with({violation});
  return kept;
}

/// A journal of two lines in a campaign of this program.
void add_journals(fs::path const& into) {
  fs::path const campaign = into / "campaign";
  scenarios::join_campaign(campaign, 7, 7, [](std::uint64_t seed) {
    return scenarios::settings_of(scenarios::CaseSearch(seed, {}, scenarios::SearchEngine()), 1,
                                  {});
  });
  std::string const settings = content_of(campaign / "campaign.json");
  fs::remove_all(campaign);
  int number = 0;
  for (auto const& violation : scenarios::one_of_each()) {
    scenarios::SearchedCase pct{.features = scenarios::set_of(scenarios::Feature::schedule_pct)};
    pct.marks = 1;
    pct.schedule_depth = 3;
    pct.schedule_chance = 0.1;
    scenarios::Tally tally;
    tally.add(pct);
    tally.failed["values.bitwise"] = {0};
    tally.findings = {finding_with(violation)};
    std::string text = settings + "\n----\n";
    for (int const from : {0, 1}) {
      StrictJson line{{"from", from}};
      line.update(scenarios::to_json(tally));
      text += scenarios::to_line(line) + "\n";
    }
    if (number % 8 == 0) write(into / "journal" / ("violation_" + std::to_string(number)), text);
    ++number;
  }
}

// ---- tensors -----------------------------------------------------------------------------------

struct SeedTensor {
  std::string name;
  std::string dtype;
  std::vector<int> shape;
  std::string bytes;
};

std::string file_with(std::vector<SeedTensor> const& tensors) {
  nlohmann::ordered_json header;
  std::string data;
  for (SeedTensor const& tensor : tensors) {
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  std::string const text = header.dump();
  std::uint64_t const length = text.size();
  return std::string(reinterpret_cast<char const*>(&length), sizeof length) + text + data;
}

std::string numbers(std::size_t count, float value) {
  std::string bytes;
  for (; count > 0; --count) bytes.append(reinterpret_cast<char const*>(&value), sizeof value);
  return bytes;
}

void add_tensors(fs::path const& into) {
  fs::path const folder = into / "tensors";
  write(folder / "plain",
        file_with({{"w", "F32", {2, 2}, numbers(4, 1)}, {"b", "BF16", {2}, std::string(4, '\0')}}));
  write(folder / "scaled_fp16", file_with({{"w", "F32", {2}, numbers(2, 0)},
                                           {"w/raw", "F16", {2}, std::string(4, '\0')},
                                           {"w/scale", "F32", {1}, numbers(1, 2)}}));
  write(folder / "scaled_fp8", file_with({{"w", "F32", {2}, numbers(2, 0)},
                                          {"w/raw", "U8", {2}, std::string(2, '\0')},
                                          {"w/scale", "F32", {1}, numbers(1, 2)}}));
  SeedTensor const values{"w", "F32", {2, 32}, numbers(64, 0)};
  SeedTensor const raw{"w/raw", "U8", {2, 32}, std::string(64, '\0')};
  SeedTensor const scale{"w/scale", "F32", {1}, numbers(1, 1)};
  write(folder / "fp8_current", file_with({values, raw, scale}));
  write(folder / "fp8_block", file_with({values, raw, {"w/scale", "F32", {1, 1}, numbers(1, 1)}}));
  write(folder / "fp8_delayed", file_with({values,
                                           raw,
                                           scale,
                                           {"w/history", "F32", {16}, numbers(16, 1)},
                                           {"w/next_scale", "F32", {1}, numbers(1, 1)}}));
  write(folder / "mxfp8",
        file_with({values, raw, {"w/scale", "U8", {2, 1}, std::string(2, '\x7f')}}));
  write(folder / "nvfp4", file_with({values,
                                     {"w/raw", "U8", {2, 16}, std::string(32, '\0')},
                                     {"w/scale", "U8", {4, 2}, std::string(8, '\x38')},
                                     {"w/amax", "F32", {1}, numbers(1, 1)}}));
}

}  // namespace

void make_seeds(fs::path const& into) {
  add_scenarios(into);
  add_sources(into);
  add_bugs(into);
  add_replies(into);
  add_worker_lines(into);
  add_journals(into);
  add_tensors(into);
}

}  // namespace adamant::properties
