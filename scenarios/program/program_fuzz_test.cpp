// `adamant fuzz` as its users call it.
#include <chrono>
#include <map>
#include <set>
#include <string>

#include "scenarios/program/search_report.h"
#include "scenarios/program/testing/called_program.h"
#include "scenarios/report/junit.h"
#include "sim/sim.h"

namespace adamant::scenarios {
namespace {

using std::chrono_literals::operator""s;
using std::chrono_literals::operator""ms;
using FuzzProgram = ProgramTest;

TEST_F(FuzzProgram, FindsNothingWrongAndSaysWhatItTried) {
  Called const called = call("fuzz --cases 60 --seed 5 --json out.json --junit out.xml");
  EXPECT_EQ(called.status, 0) << called.out << called.err;
  EXPECT_EQ(called.out.rfind("seed 5\n", 0), 0U) << called.out;
  EXPECT_NE(called.out.find("% one rank\n"), std::string::npos);
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("command"), "fuzz");
  EXPECT_EQ(document.at("seed"), 5);
  EXPECT_EQ(document.at("cases"), 60);
  EXPECT_GT(document.at("cases_per_second").get<double>(), 0);
  EXPECT_GT(document.at("distribution").at("train").get<int>(), 0);
  EXPECT_EQ(document.at("results").size(), 0U);
  EXPECT_NE(read("out.xml").find("tests=\"1\" failures=\"0\""), std::string::npos);
  EXPECT_NE(read("out.xml").find("name=\"search: 60 cases of seed 5\""), std::string::npos);
}

TEST_F(FuzzProgram, SaysInHowManyCasesValuesDependOnTheSchedule) {
  Called const called = call("fuzz --cases 700 --seed 11 --json out.json");
  ASSERT_EQ(called.status, 0) << called.out;
  EXPECT_NE(called.out.find("5 cases ran under two schedules: values depended on the schedule in"),
            std::string::npos)
      << called.out;
  auto const compared = read_json("out.json").at("two_schedules");
  EXPECT_EQ(compared.at("cases"), 5);
  EXPECT_GT(compared.at("different_values"), 0);
}

TEST_F(FuzzProgram, OneSeedTriesTheSameCasesWhateverTheJobs) {
  auto const distribution = [&](std::string const& arguments) {
    call("fuzz --seed 6 --json out.json " + arguments);
    return read_json("out.json").at("distribution");
  };
  auto const all = distribution("--cases 40 --jobs 1");
  EXPECT_EQ(distribution("--cases 40 --jobs 3"), all);
  EXPECT_NE(distribution("--cases 20"), all);
}

// In everything that lists them.
TEST_F(FuzzProgram, NamesTwoFindingsThatAreAlikeApart) {
  if (!sim::can_check) GTEST_SKIP() << "the sanitizers exclude the instrumentation";
  std::string const planted = "--bug block_maxima_not_awaited --seed 1 ";
  auto const names = [this](char const* document) {
    std::set<std::string> all;
    auto const read = read_json(document);
    for (auto const& result : read.at("results"))
      EXPECT_TRUE(all.insert(result.at("scenario")).second) << result.at("scenario");
    return all;
  };
  EXPECT_EQ(call("fuzz --cases 150 --json out.json --junit out.xml " + planted).status, 1);
  EXPECT_EQ(names("out.json").size(), 2U);
  for (std::string const& name : names("out.json"))
    EXPECT_NE(read("out.xml").find("name=\"" + name + "\""), std::string::npos) << name;
  // Of a shard that goes on, and of two shards that know nothing of each other.
  for (char const* const options : {"--first ", ""})
    EXPECT_EQ(
        call("fuzz --campaign kept --shard 0/2 --cases 300 --json out.json " + planted + options)
            .status,
        1);
  EXPECT_EQ(names("out.json").size(), 2U);
  for (std::string const shard : {"0", "1"})
    EXPECT_EQ(
        call("fuzz --campaign two --cases 60 --bug block_maxima_not_awaited --seed 2 --shard " +
             shard + "/2")
            .status,
        1);
  EXPECT_EQ(call("merge two --json merged.json --out found").status, 1);
  EXPECT_EQ(names("merged.json").size(), 2U);
  for (std::string const& name : names("merged.json"))
    EXPECT_NE(shell("grep ^name: found/*.yaml").out.find(name), std::string::npos) << name;
}

TEST(SearchInJunit, IsSkippedWhereNoCaseWasSearched) {
  Searched searched{.seed = 5, .seconds = 0.25};
  std::string const nothing = to_junit("fuzz", with_search(searched, {}));
  EXPECT_NE(nothing.find("<skipped message=\"no case was searched\"/>"), std::string::npos)
      << nothing;
  searched.seen.add(FeatureSet{});
  std::string const one = to_junit("fuzz", with_search(searched, {}));
  EXPECT_NE(one.find("name=\"search: 1 case of seed 5\" time=\"0.250000\"/>"), std::string::npos)
      << one;
}

TEST_F(FuzzProgram, StopsWhenTimeIsUp) {
  Called const called = call("fuzz --for 300ms --seed 1 --json out.json");
  EXPECT_EQ(called.status, 0) << called.out;
  EXPECT_GT(read_json("out.json").at("cases").get<int>(), 0);
}

TEST_F(FuzzProgram, TimeBoundsSearchingAndMinimisingTogether) {
  Called called;
  EXPECT_TRUE(is_in_time(3s, [&] {
    called = call("fuzz --for 2s --seed 1 --bug moments_swapped --out found --json out.json");
  }));
  EXPECT_EQ(called.status, 1) << called.out << called.err;
  auto const document = read_json("out.json");
  EXPECT_GT(document.at("cases"), 0);
  ASSERT_FALSE(document.at("results").empty());
  for (auto const& result : document.at("results")) {
    std::string const file = result.at("file");
    EXPECT_EQ(call("run " + file).status, 0) << file;
    bool const says_so = result.at("notes").dump().find("\"not minimised") != std::string::npos;
    EXPECT_EQ(result.contains("minimized"), says_so) << result.dump(1);
  }
}

// Minimising would take longer than there is.
TEST_F(FuzzProgram, WhatIsNotMinimisedInTimeIsWrittenAsItWasFound) {
  EXPECT_TRUE(is_in_time(1150ms, [&] {
    EXPECT_EQ(call("fuzz --for 150ms --skip 200 --seed 1 --bug moments_swapped --out found "
                   "--json out.json --html out.html")
                  .status,
              1);
  }));
  auto const results = read_json("out.json").at("results");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results.at(0).at("minimized"), false);
  EXPECT_EQ(results.at(0).at("notes").at(0), "not minimised");
  EXPECT_EQ(call("run found").status, 0);
  EXPECT_FALSE(exists("found/unfinished"));
}

TEST_F(FuzzProgram, AnInterruptEndsWith130) {
  Called const called =
      shell("PROGRAM fuzz --for 1h --seed 1 --json out.json & pid=$!; " +
            until_exists(".out.json.*.tmp") + "sleep 0.5; kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130);
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("interrupted"), true);
  EXPECT_GT(document.at("cases").get<int>(), 0);
}

TEST_F(FuzzProgram, AnInterruptEndsWith130WhileAnEngineStillStarts) {
  Called const called =
      shell("PROGRAM fuzz --engine 'exec:touch started; exec sleep 60' --json out.json & pid=$!; " +
            until_exists("started") + "kill -INT $pid; wait $pid");
  EXPECT_EQ(called.status, 130) << called.err;
  EXPECT_EQ(called.err, "interrupted\n");
  auto const document = read_json("out.json");
  EXPECT_EQ(document.at("command"), "fuzz");
  EXPECT_EQ(document.at("cases"), 0);
  EXPECT_EQ(document.at("interrupted"), true);
}

TEST_F(FuzzProgram, AnUnknownBugIsBadUsage) {
  Called const called = call("fuzz --bug mean_not_devided");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("did you mean `mean_not_divided`?"), std::string::npos) << called.err;
}

TEST_F(FuzzProgram, WhatItFindsIsWrittenSoThatRunningItEndsWithZero) {
  Called const called =
      call("fuzz --cases 150 --seed 2 --bug mean_not_divided --out found --json out.json");
  ASSERT_EQ(called.status, 1) << called.out << called.err;
  auto const results = read_json("out.json").at("results");
  ASSERT_FALSE(results.empty());
  auto const file = results.at(0).at("file").get<std::string>();
  auto const law = results.at(0).at("violations").at(0).at("law").get<std::string>();
  EXPECT_EQ(file, "found/mean_not_divided.yaml");
  EXPECT_NE(read(file).find("bug: mean_not_divided"), std::string::npos) << read(file);
  EXPECT_NE(read(file).find("expect: {violates: " + law + "}"), std::string::npos) << read(file);
  EXPECT_EQ(call("run found").status, 0);
  EXPECT_EQ(call("run found --bug zero_grad_keeps_memory").status, 1)
      << "another one breaks another law";
}

TEST_F(FuzzProgram, ShardsShareTheCasesAndWriteBesideEachOther) {
  std::string const search = "fuzz --bug canary --cases 10 --seed 6 --out found --json out.json";
  auto const features = [this] {
    std::map<std::string, int> counts;
    auto const document = read_json("out.json");
    for (auto const& [name, count] : document.at("distribution").items()) counts[name] = count;
    return counts;
  };
  std::map<std::string, int> together;
  int cases = 0;
  for (char const* const shard : {"0", "1", "2"}) {
    EXPECT_EQ(call(search + " --shard " + shard + "/3").status, 1);
    cases += read_json("out.json").at("cases").get<int>();
    for (auto const& [name, count] : features()) together[name] += count;
    EXPECT_TRUE(exists(std::string("found/") + shard + "-of-3/canary.yaml"));
  }
  EXPECT_EQ(cases, 10);
  EXPECT_EQ(call(search).status, 1);
  EXPECT_EQ(together, features()) << "they are the cases of the whole search";
}

TEST_F(FuzzProgram, WhatCannotBeWrittenIsSaidBeforeTheSearch) {
  Called const called = call("fuzz --for 60s --seed 1 --out /dev/null/found");
  EXPECT_EQ(called.status, 2);
  EXPECT_EQ(called.err, "/dev/null/found: cannot be made: /dev/null is no directory\n");
  write("file", "");
  EXPECT_EQ(call("hunt te_2795 --seed 1 --out file").status, 2);
}

TEST_F(FuzzProgram, AReplayLineRepeatsOneCase) {
  Called const called = call("fuzz --cases 150 --seed 2 --bug mean_not_divided --json out.json");
  ASSERT_EQ(called.status, 1);
  auto const first = read_json("out.json").at("results").at(0);
  Called const again = shell(first.at("replay").get<std::string>() + " --json again.json");
  EXPECT_EQ(again.status, 1);
  auto const repeated = read_json("again.json").at("results").at(0);
  EXPECT_EQ(repeated.at("digest"), first.at("digest"));
  EXPECT_EQ(repeated.at("violations"), first.at("violations"));
}

}  // namespace
}  // namespace adamant::scenarios
