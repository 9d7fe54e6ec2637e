// Traces of real runs, read as the program reads them that shows them.
#include "scenarios/report/trace/formats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "scenarios/language/yaml/load.h"
#include "scenarios/report/testing/trace_reader.h"
#include "scenarios/runner/run.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

RunResult run_traced(std::string const& file, std::string const& bug = "") {
  RunOptions options;
  options.seed = 7;
  options.bug = bug;
  options.timelines = Timelines::all;
  return run_scenario(load_scenario_file(ADAMANT_SOURCE_DIR "/scenarios/corpus/" + file), options);
}

ReadTrace read(RunResult const& result) {
  ReadTrace trace = read_trace(to_chrome_trace(result));
  for (std::string const& mistake : trace.mistakes) ADD_FAILURE() << mistake;
  return trace;
}

std::set<std::string> tracks_of(ReadTrace const& trace) {
  std::set<std::string> tracks;
  for (auto const& [thread, name] : trace.threads)
    tracks.insert(trace.processes.at(trace.process_of.at(thread)) + "/" + name);
  return tracks;
}

std::size_t count(ReadTrace const& trace, std::string const& category) {
  return static_cast<std::size_t>(
      std::count_if(trace.arrows.begin(), trace.arrows.end(),
                    [&](ReadArrow const& arrow) { return arrow.category == category; }));
}

TEST(ChromeTrace, HasArrowsOnlyBetweenSlicesThatAreThere) {
  for (char const* const file : {"one_rank.yaml", "save_and_load_while_offloaded.yaml",
                                 "crash_during_second_save.yaml", "graph_clip.yaml"}) {
    SCOPED_TRACE(file);
    ReadTrace const trace = read(run_traced(file));
    EXPECT_GT(trace.slices.size(), 50U);
    EXPECT_GT(count(trace, "enqueue"), 20U);
    EXPECT_GT(count(trace, "wait"), 5U);
  }
}

TEST(ChromeTrace, ArrowsLeadFromARecordToItsWaitAndFromACallToItsOperation) {
  ReadTrace const trace = read(run_traced("one_rank.yaml"));
  bool from_comm = false;
  for (ReadArrow const& arrow : trace.arrows) {
    if (arrow.category == "enqueue") {
      EXPECT_EQ(arrow.from.at("cat"), "call");
    }
    if (arrow.category != "wait" || arrow.to.at("cat") != "wait") continue;
    EXPECT_EQ(arrow.from.at("cat"), "record");
    from_comm |= trace.track_of(arrow.from) == "rank 0/stream comm" &&
                 trace.track_of(arrow.to) == "rank 0/stream compute";
  }
  EXPECT_TRUE(from_comm) << "the step waits for the reduction";
}

TEST(ChromeTrace, HasATrackForEveryRankStreamAndCopyEngine) {
  std::set<std::string> const tracks =
      tracks_of(read(run_traced("save_and_load_while_offloaded.yaml")));
  for (std::string const rank : {"rank 0/", "rank 1/"})
    for (char const* const name : {"host", "stream compute", "stream comm", "stream copy",
                                   "copy engine, host to device", "copy engine, device to host"})
      EXPECT_TRUE(tracks.contains(rank + name)) << rank << name;
}

TEST(ChromeTrace, JoinsTheMembersOfACollective) {
  ReadTrace const trace = read(run_traced("save_and_load_while_offloaded.yaml"));
  ASSERT_GT(count(trace, "collective"), 0U);
  for (ReadArrow const& arrow : trace.arrows) {
    if (arrow.category != "collective") continue;
    EXPECT_EQ(arrow.from.at("name"), arrow.to.at("name"));
    EXPECT_NE(arrow.from.at("pid"), arrow.to.at("pid"));
  }
}

TEST(ChromeTrace, MarksBothAccessesOfAViolationAndWhatIsMissing) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  RunResult const result = run_traced("one_rank.yaml", "step_skips_wait_for_reduction");
  ASSERT_EQ(result.violations.size(), 1U);
  ReadTrace const trace = read(result);
  ASSERT_EQ(trace.marks.size(), 2U);
  EXPECT_NE(trace.track_of(trace.marks[0]), trace.track_of(trace.marks[1]));
  for (auto const& mark : trace.marks) {
    EXPECT_EQ(mark.at("name"), "order.race");
    EXPECT_EQ(mark.at("args").at("missing"), result.violations[0].missing);
  }
  auto const missing =
      std::find_if(trace.arrows.begin(), trace.arrows.end(),
                   [](ReadArrow const& arrow) { return arrow.category == "missing"; });
  ASSERT_NE(missing, trace.arrows.end());
  std::set<std::string> const ends = {missing->from.at("name"), missing->to.at("name")};
  EXPECT_EQ(ends, (std::set<std::string>{"adam_kernel", "mean_kernel"}));
}

TEST(ChromeTrace, MarksAWrongValueAtTheEndOfItsOperation) {
  RunResult const result = run_traced("one_rank.yaml", "canary");
  ASSERT_FALSE(result.violations.empty());
  ReadTrace const trace = read(result);
  ASSERT_FALSE(trace.marks.empty());
  EXPECT_EQ(trace.track_of(trace.marks[0]), "rank 0/host");
  EXPECT_EQ(trace.marks[0].at("name"), "values.bitwise");
}

TEST(ChromeTrace, IsOfTheRunThatIsReported) {
  RunResult const traced = run_traced("one_rank.yaml");
  RunOptions options;
  options.seed = 7;
  RunResult const plain = run_scenario(
      load_scenario_file(ADAMANT_SOURCE_DIR "/scenarios/corpus/one_rank.yaml"), options);
  EXPECT_EQ(traced.digest, plain.digest);
  EXPECT_EQ(traced.choices, plain.choices);
  EXPECT_TRUE(plain.timeline.empty());
}

/// One slice, one call, an instant; names that would end strings and tags.
TEST(ChromeTrace, KeepsHostileNamesAsText) {
  RunResult result;
  result.name = "\"</script>\n";
  result.timeline.tracks = {{.kind = Track::Kind::host, .rank = 0, .name = "host"}};
  result.timeline.events = {{.begin_ns = 1, .end_ns = 1501, .name = "\"}]\\ \xff"}};
  ReadTrace const trace = read(result);
  ASSERT_EQ(trace.slices.size(), 1U);
  EXPECT_EQ(trace.slices[0].at("name"), "\"}]\\ \xEF\xBF\xBD");
  EXPECT_EQ(trace.slices[0].at("ts"), 0.001);
  EXPECT_EQ(trace.slices[0].at("dur"), 1.5);
}

}  // namespace
}  // namespace adamant::scenarios
