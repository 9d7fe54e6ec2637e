// Memory of a run and of a dry run, in JSON and as text.
#include <gtest/gtest.h>

#include "scenarios/report/json.h"
#include "scenarios/report/markup.h"
#include "scenarios/report/memory_text.h"
#include "scenarios/report/text.h"

namespace adamant::scenarios {
namespace {

constexpr auto parameters = static_cast<std::size_t>(Purpose::parameters);
constexpr auto main_weights = static_cast<std::size_t>(Purpose::main);

RunResult run_result() {
  RunResult result;
  result.name = "small";
  result.outcome = Outcome::pass;
  result.met = true;
  result.device_peak_bytes = 4096;
  result.peak_bytes[parameters] = {.device = 1000};
  result.peak_bytes[main_weights] = {.device = 24, .pinned = 2'000'000};
  return result;
}

RunResult dry_result() {
  RunResult result = run_result();
  PlannedMemory planned;
  planned.mesh = {.shards = 4, .replicas = 3};
  planned.ranks = {{.shards = {0, 2}, .replicas = {0, 2}}, {.shards = {0, 3}, .replicas = {1, 1}}};
  planned.at_start[parameters] = {.device = 500};
  planned.between[parameters] = {.device = 700};
  planned.peak = result.peak_bytes;
  PlannedMemory later;
  later.from_operation = 5;
  later.mesh = {.shards = 2};
  later.ranks = {{.shards = {1, 1}, .replicas = {0, 0}}};
  result.planned = {planned, later};
  return result;
}

TEST(MemoryJson, OfARunIsByPurposeThatHadAny) {
  auto const memory = to_json(run_result()).at("memory");
  EXPECT_EQ(memory.at("device_peak_bytes"), 4096);
  EXPECT_EQ(memory.at("by_purpose").size(), 2U);
  EXPECT_EQ(memory.at("by_purpose").at("main").at("pinned"), 2'000'000);
  EXPECT_FALSE(memory.contains("ranks"));
}

TEST(MemoryJson, OfADryRunHasNoDigest) {
  auto const json = to_json(dry_result());
  EXPECT_EQ(json.at("dry_run"), true);
  EXPECT_EQ(json.at("outcome"), "pass");
  EXPECT_FALSE(json.contains("digest"));
  auto const& memory = json.at("memory");
  EXPECT_EQ(memory.at("device_peak_bytes"), 1024);  // one rank's purposes together
  EXPECT_EQ(memory.at("pinned_peak_bytes"), 2'000'000);
  ASSERT_EQ(memory.at("ranks").size(), 2U);
  EXPECT_EQ(memory.at("ranks").at(0).at("ranks").at(0).at("shards").at(1), 2);
}

TEST(MemoryJson, IsReadBack) {
  EXPECT_EQ(result_from_json(to_json(run_result())).peak_bytes, run_result().peak_bytes);
  EXPECT_EQ(to_json(result_from_json(to_json(dry_result()))), to_json(dry_result()));
}

TEST(MemoryText, NumbersAreGrouped) {
  EXPECT_EQ(grouped(0, ","), "0");
  EXPECT_EQ(grouped(999, ","), "999");
  EXPECT_EQ(grouped(1000, ","), "1,000");
  EXPECT_EQ(grouped(1234567, ","), "1,234,567");
}

TEST(MemoryText, OfADryRunNamesRanksAndSums) {
  std::string const text = describe({.result = dry_result(), .replay = ""}, Style{});
  EXPECT_NE(text.find("shards 0-2 of replicas 0-2, ranks 4-7"), text.npos) << text;
  EXPECT_NE(text.find("rank 1, from operation 5 on"), text.npos) << text;
  EXPECT_NE(text.find("2,000,000"), text.npos) << text;
  EXPECT_EQ(text.find("exp_avg"), text.npos) << text;
}

TEST(MemoryText, OfARunIsVerbose) {
  Reported const reported{.result = run_result(), .replay = ""};
  EXPECT_EQ(describe(reported, Style{}).find("parameters"), std::string::npos);
  std::string const text = describe(reported, Style{.verbosity = Verbosity::verbose});
  EXPECT_NE(text.find("parameters"), text.npos) << text;
}

}  // namespace
}  // namespace adamant::scenarios
