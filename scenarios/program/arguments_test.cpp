#include "scenarios/program/arguments.h"

#include <gtest/gtest.h>

#include "scenarios/bench/suite.h"
#include "scenarios/program/parse.h"
#include "scenarios/report/status.h"

namespace adamant::scenarios {
namespace {

Arguments parse(std::vector<char const*> words) {
  words.insert(words.begin(), "adamant");
  return parse_arguments(static_cast<int>(words.size()), words.data());
}

/// The status with which parsing ends; -1 where it goes on.
int status_of(std::vector<char const*> words) {
  try {
    parse(std::move(words));
  } catch (EndOfProgram const& end) {
    EXPECT_FALSE(end.text.empty());
    return end.status;
  }
  return -1;
}

TEST(Arguments, AllOfRun) {
  auto const a = parse({"run",
                        "a.yaml",
                        "b",
                        "--seed",
                        "18446744073709551615",
                        "--schedules",
                        "5",
                        "--jobs",
                        "3",
                        "--json",
                        "o.json",
                        "--junit",
                        "o.xml",
                        "--dump",
                        "d",
                        "--engine",
                        "sim-unchecked",
                        "--color",
                        "never",
                        "--verbose"});
  EXPECT_EQ(a.command, &run_command);
  EXPECT_EQ(a.paths, (std::vector<std::filesystem::path>{"a.yaml", "b"}));
  EXPECT_EQ(a.seed, 18446744073709551615U);
  EXPECT_EQ(a.schedules, 5);
  EXPECT_EQ(a.jobs, 3);
  EXPECT_EQ(a.json, "o.json");
  EXPECT_EQ(a.junit, "o.xml");
  EXPECT_EQ(a.dump, "d");
  EXPECT_EQ(a.engine, "sim-unchecked");
  EXPECT_EQ(a.color, ColorMode::never);
  EXPECT_EQ(a.verbosity, Verbosity::verbose);
}

TEST(Arguments, AllOfFuzz) {
  auto const a =
      parse({"--quiet", "fuzz", "--cases", "10", "--for", "2m", "--skip", "4", "--out", "o"});
  EXPECT_EQ(a.command, &fuzz_command);
  EXPECT_EQ(a.cases, 10U);
  EXPECT_EQ(a.time, std::chrono::minutes(2));
  EXPECT_EQ(a.skip, 4U);
  EXPECT_EQ(a.out, "o");
  EXPECT_EQ(a.verbosity, Verbosity::quiet);
  EXPECT_FALSE(a.seed);
}

TEST(Arguments, BadUsageEndsWithTwo) {
  EXPECT_EQ(status_of({"--quiet"}), 2);
  EXPECT_EQ(status_of({"run"}), 2);
  EXPECT_EQ(status_of({"walk", "a.yaml"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--fast"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--jobs", "0"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--seed", "-1"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--seed", "18446744073709551616"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--seed", "1e3"}), 2);
  EXPECT_EQ(parse({"doctor", "--engine", "megatron"}).engine, "megatron");
  EXPECT_EQ(status_of({"doctor", "--engine", "sim"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--engine", "an abacus"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--engine", "exec:"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--color", "sometimes"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--quiet", "--verbose"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--engine", "exec:"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", "o", "--json", "p"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", ""}), 2);
  EXPECT_EQ(status_of({"fuzz", "--cases", "0"}), 2);
  EXPECT_EQ(status_of({"fuzz", "--for", "soon"}), 2);
}

TEST(Arguments, OneFileCannotTakeTwoOutputs) {
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", "o", "--junit", "o"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", "o", "--junit", "./o"}), 2);
  EXPECT_EQ(status_of({"fuzz", "--json", "-", "--junit", "/dev/stdout"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", "o", "--junit", "o/p"}), -1);
  EXPECT_EQ(status_of({"run", "a.yaml", "--json", "o", "--script", "./o"}), 2);
  EXPECT_EQ(status_of({"minimize", "a.yaml", "--junit", "o", "--script", "o"}), 2);
  EXPECT_EQ(status_of({"minimize", "a.yaml", "-o", "o", "--script", "o"}), 2);
  EXPECT_EQ(status_of({"minimize", "a.yaml", "--script", ""}), 2);
  EXPECT_EQ(status_of({"fuzz", "--script", "o"}), 2);
}

TEST(Arguments, AnUnknownBugNamesTheNearest) {
  EXPECT_EQ(parse({"run", "a.yaml", "--bug", "mean_not_divided"}).bug, "mean_not_divided");
  try {
    parse({"run", "a.yaml", "--bug", "mean_not_devided"});
    FAIL() << "it was accepted";
  } catch (EndOfProgram const& end) {
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.text.find("did you mean `mean_not_divided`?"), std::string::npos) << end.text;
  }
}

TEST(Arguments, ABugToShowIsOneOfTheCatalogue) {
  EXPECT_EQ(parse({"bugs", "--show", "mean_not_divided"}).bug, "mean_not_divided");
  EXPECT_EQ(status_of({"bugs", "--show", "mean_not_divided", "--json", "-"}), 2);
  try {
    parse({"bugs", "--show", "mean_not_devided"});
    FAIL() << "it was accepted";
  } catch (EndOfProgram const& end) {
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.text.find("--show: no catalogued bug is called `mean_not_devided` (did you mean "
                            "`mean_not_divided`?)"),
              std::string::npos)
        << end.text;
  }
}

TEST(Arguments, AWrongCommandNamesTheNearest) {
  try {
    parse({"rum", "a.yaml"});
    FAIL() << "it was accepted";
  } catch (EndOfProgram const& end) {
    EXPECT_EQ(end.status, 2);
    EXPECT_NE(end.text.find("no command `rum` (did you mean `run`?)"), std::string::npos)
        << end.text;
  }
}

TEST(Arguments, AWrongColorNamesTheValuesThatThereAre) {
  try {
    parse({"run", "a.yaml", "--color", "sometimes"});
    FAIL() << "it was accepted";
  } catch (EndOfProgram const& end) {
    EXPECT_NE(end.text.find("expected auto, always or never, found `sometimes`"), std::string::npos)
        << end.text;
  }
}

TEST(Arguments, AWrongOptionNamesTheNearest) {
  for (auto const& words : {std::vector<char const*>{"run", "a.yaml", "--filtr", "b"},
                            {"run", "a.yaml", "--filtr=b"},
                            {"run", "a.yaml", "--colour", "never"}}) {
    try {
      parse(words);
      FAIL() << words[2] << " was accepted";
    } catch (EndOfProgram const& end) {
      EXPECT_EQ(end.status, 2);
      bool const meant = end.text.find("(did you mean `--filter`?)") != std::string::npos ||
                         end.text.find("(did you mean `--color`?)") != std::string::npos;
      EXPECT_TRUE(meant) << end.text;
    }
  }
}

TEST(Arguments, AWrongValueNamesTheNearest) {
  std::pair<std::vector<char const*>, char const*> const wrong[] = {
      {{"completion", "bahs"}, "(did you mean `bash`?)"}};
  for (auto const& [words, meant] : wrong) {
    try {
      parse(words);
      FAIL() << words.back() << " was accepted";
    } catch (EndOfProgram const& end) {
      EXPECT_EQ(end.status, 2);
      EXPECT_NE(end.text.find(meant), std::string::npos) << end.text;
    }
  }
}

TEST(Arguments, HelpHasAnExampleTheStatusesAndTheSuites) {
  auto const help_of = [](char const* command) {
    try {
      parse({command, "--help"});
    } catch (EndOfProgram const& end) {
      return end.text;
    }
    return std::string();
  };
  for (char const* const command : {"run", "fuzz", "merge", "minimize", "hunt", "laws", "bugs",
                                    "doctor", "bench", "help", "explain"}) {
    std::string const text = help_of(command);
    EXPECT_NE(text.find(std::string("Example:\n  adamant ") + command), std::string::npos) << text;
    EXPECT_NE(text.find("--quiet, --verbose, --color"), std::string::npos) << text;
    EXPECT_NE(text.find("  2    bad usage"), std::string::npos) << text;
  }
  EXPECT_NE(help_of("completion").find("  2    bad usage"), std::string::npos);
  for (Suite const& suite : suites())
    EXPECT_NE(help_of("bench").find(suite.name), std::string::npos) << suite.name;
}

TEST(Arguments, SelectionOfRun) {
  auto const a = parse({"run", "-", "--filter", "x*", "--shard", "1/3", "--list", "--timeout", "9",
                        "--fail-fast", "--cache", "kept"});
  EXPECT_EQ(a.paths, (std::vector<std::filesystem::path>{"-"}));
  EXPECT_EQ(a.filter, "x*");
  EXPECT_EQ(a.shard->index, 1U);
  EXPECT_EQ(a.shard->count, 3U);
  EXPECT_TRUE(a.list);
  EXPECT_EQ(a.timeout, std::chrono::seconds(9));
  EXPECT_TRUE(a.fail_fast);
  EXPECT_EQ(a.cache, "kept");
  EXPECT_EQ(status_of({"run", "a.yaml", "--timeout", "0"}), 2);
}

TEST(Arguments, ShardsOfASearchNeedASeedAndHaveAFolderEach) {
  EXPECT_EQ(status_of({"fuzz", "--shard", "0/2"}), 2);
  EXPECT_EQ(status_of({"hunt", "--shard", "0/2"}), 2);
  EXPECT_EQ(status_of({"hunt", "--shard", "0/2", "--seed", "1", "--mutants"}), 2);
  EXPECT_EQ(parse({"fuzz", "--shard", "1/2", "--seed", "1", "--out", "found"}).out, "found/1-of-2");
  EXPECT_EQ(parse({"run", "a.yaml", "--shard", "1/2"}).shard->count, 2U);
}

TEST(Arguments, MessagesNameTheOption) {
  for (char const* const option : {"--seed", "--jobs", "--schedules"}) {
    try {
      parse({"run", "a.yaml", option, "many"});
      FAIL() << option << " was accepted";
    } catch (EndOfProgram const& end) {
      EXPECT_EQ(end.text.find(option), 0U) << end.text;
    }
  }
}

TEST(Arguments, MinimizeTakesOneFileAndAPlaceForTheResult) {
  Arguments const arguments =
      parse({"minimize", "a.yaml", "-o", "b.yaml", "--engine", "sim-unchecked", "--seed", "3"});
  EXPECT_EQ(arguments.command, &minimize_command);
  EXPECT_EQ(arguments.paths, (std::vector<std::filesystem::path>{"a.yaml"}));
  EXPECT_EQ(arguments.out, "b.yaml");
  EXPECT_EQ(arguments.seed, 3U);
  EXPECT_EQ(status_of({"minimize"}), 2);
  EXPECT_EQ(status_of({"minimize", "a.yaml", "b.yaml"}), 2);
  EXPECT_EQ(status_of({"minimize", "a.yaml", "-o", "x.json", "--json", "./x.json"}), 2);
}

TEST(Arguments, ExplainTakesOneElementBeforeTheFileOrBehindIt) {
  for (std::vector<char const*> const& words :
       {std::vector<char const*>{"explain", "--element", "w[0]", "a.yaml", "--operation", "1"},
        std::vector<char const*>{"explain", "--element=w[0]", "a.yaml", "--seed", "3"},
        std::vector<char const*>{"explain", "a.yaml", "--element", "w[0]"}}) {
    Arguments const arguments = parse(words);
    EXPECT_EQ(arguments.element, "w[0]");
    EXPECT_EQ(arguments.paths, (std::vector<std::filesystem::path>{"a.yaml"}));
  }
  EXPECT_EQ(status_of({"explain", "a.yaml"}), 2);
  EXPECT_EQ(status_of({"explain", "a.yaml", "--element", "w[0]", "--element", "w[1]"}), 2);
}

TEST(Arguments, WhatIsNotThereYetEndsWithTwo) {
  EXPECT_EQ(status_of({"hunt", "te_2796"}), 2);
}

TEST(Arguments, NoTwoOutputsAreOneFile) {
  EXPECT_EQ(parse({"run", "a.yaml", "--trace", "t.json"}).trace, "t.json");
  EXPECT_EQ(status_of({"run", "a.yaml", "--trace", "t.json", "--json", "./t.json"}), 2);
  EXPECT_EQ(status_of({"fuzz", "--trace", "t.json"}), 2);
}

TEST(Arguments, EnginesMayBeElsewhere) {
  EXPECT_EQ(parse({"run", "a.yaml", "--engine", "torch"}).engine, "torch");
  EXPECT_EQ(parse({"fuzz", "--engine", "exec:python3 engine.py"}).engine, "exec:python3 engine.py");
  EXPECT_EQ(parse({"doctor", "--engine", "megatron"}).engine, "megatron");
  EXPECT_EQ(status_of({"doctor", "--engine", "sim"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--engine", "an abacus"}), 2);
  EXPECT_EQ(status_of({"run", "a.yaml", "--engine", "exec:"}), 2);
}

TEST(Arguments, HelpAndVersionEndWithZero) {
  EXPECT_EQ(status_of({}), 0);
  EXPECT_EQ(status_of({"--help"}), 0);
  EXPECT_EQ(status_of({"run", "--help"}), 0);
  EXPECT_EQ(status_of({"--version"}), 0);
}

TEST(Arguments, Durations) {
  EXPECT_EQ(parse_duration("60s"), std::chrono::seconds(60));
  EXPECT_EQ(parse_duration("1.5m"), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("2h"), std::chrono::hours(2));
  EXPECT_EQ(parse_duration("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(parse_duration("3"), std::chrono::seconds(3));
  EXPECT_EQ(parse_duration("1m30s"), std::chrono::seconds(90));
  EXPECT_EQ(parse_duration("1h2m3s4ms"), std::chrono::milliseconds(3'723'004));
  for (char const* const wrong : {"", "s", "-1s", "0s", "nan", "1e300s", "5 s", "5d", "inf",
                                  "30s1m", "1m30", "1m1m", "1m-3s"}) {
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  }
}

TEST(Portions, AreDisjointAndHoldEverything) {
  for (std::uint64_t count = 1; count <= 4; ++count)
    for (std::uint64_t begin = 0; begin <= 5; ++begin)
      for (std::uint64_t length = 0; length <= 9; ++length) {
        std::vector<int> held(begin + length);
        for (std::uint64_t index = 0; index < count; ++index) {
          Portion const portion{.index = index, .count = count};
          for (std::uint64_t i = 0; i < portion.count_in(begin, length); ++i)
            ++held.at(portion.first_from(begin) + i * count);
        }
        for (std::uint64_t i = 0; i < begin + length; ++i) EXPECT_EQ(held[i], i < begin ? 0 : 1);
      }
}

TEST(Statuses, TheGraverCounts) {
  EXPECT_EQ(worse(Status::met, Status::not_met), Status::not_met);
  EXPECT_EQ(worse(Status::bad_input, Status::lacking), Status::bad_input);
  EXPECT_EQ(worse(Status::not_met, Status::lacking), Status::lacking);
  EXPECT_EQ(worse(Status::interrupted, Status::bad_input), Status::interrupted);
}

}  // namespace
}  // namespace adamant::scenarios
