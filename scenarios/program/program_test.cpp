// The program as its users call it: usage, listings, measurements.
#include <fstream>
#include <regex>
#include <sstream>

#include "scenarios/program/testing/called_program.h"

#include <fstream>
#include <sstream>

namespace adamant::scenarios {
namespace {

using Program = ProgramTest;

TEST_F(Program, ExplainsItself) {
  Called const help = call("--help");
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("fuzz"), std::string::npos);
  EXPECT_TRUE(
      std::regex_match(call("--version").out,
                       std::regex("adamant 0\\.1\\.0 \\((unknown|[0-9a-f]{7,}(-dirty)?)\\)\n")));
}

TEST_F(Program, WhoReadsNoFurtherIsToldNothing) {
  Called const called = shell(
      "(trap '' PIPE; sleep 0.2; PROGRAM laws; echo $? > status; PROGRAM laws > /dev/full) | true");
  EXPECT_EQ(read("status"), "2\n");
  EXPECT_EQ(called.err, "standard output: cannot be written\n") << "of a full disk alone";
}

TEST_F(Program, AStandardOutputThatTakesNothingIsTwo) {
  for (char const* const arguments : {"laws", "doctor", "--help"}) {
    EXPECT_EQ(shell(std::string("PROGRAM ") + arguments + " >/dev/full").status, 2) << arguments;
    EXPECT_EQ(shell(std::string("PROGRAM ") + arguments + " <&- >&-").status, 2) << arguments;
  }
  EXPECT_EQ(shell("PROGRAM laws 2>&-").status, 0);
}

TEST_F(Program, BadUsageIsTwoWithAHint) {
  for (char const* const usage :
       {"--quiet", "run", "run x --no-such-option", "walk", "fuzz --jobs none"}) {
    Called const called = call(usage);
    EXPECT_EQ(called.status, 2) << usage;
    EXPECT_NE(called.err.find("see adamant --help"), std::string::npos) << usage;
    EXPECT_EQ(called.out, "") << usage;
  }
}

TEST_F(Program, AloneItShowsItsHelp) {
  Called const called = call("");
  EXPECT_EQ(called.status, 0);
  EXPECT_EQ(called.out, call("--help").out);
}

TEST_F(Program, TheCatalogueIsListedForPeopleAndMachines) {
  EXPECT_NE(call("bugs").out.find("mean_not_divided"), std::string::npos);
  Called const machine = call("bugs --json -");
  EXPECT_EQ(machine.status, 0);
  auto const bugs = nlohmann::json::parse(machine.out).at("bugs");
  ASSERT_GE(bugs.size(), 54U);
  for (auto const& bug : bugs) {
    for (char const* const key : {"id", "source", "law", "symptom"})
      EXPECT_FALSE(bug.at(key).get<std::string>().empty()) << bug;
  }
}

TEST_F(Program, ABugIsShownAsItsFile) {
  Called const called = call("bugs --show te_3318");
  EXPECT_EQ(called.status, 0);
  std::ostringstream file;
  file << std::ifstream(ADAMANT_SOURCE_DIR "/scenarios/bugs/te_3318.diff").rdbuf();
  EXPECT_EQ(called.out, file.str());
}

TEST_F(Program, LawsAreListedForPeopleAndMachines) {
  EXPECT_NE(call("laws").out.find("order.race"), std::string::npos);
  Called const machine = call("laws --json -");
  EXPECT_EQ(machine.status, 0);
  auto const document = nlohmann::json::parse(machine.out);
  EXPECT_EQ(document.at("command"), "laws");
  EXPECT_EQ(document.at("laws").at(0).at("id"), "values.bitwise");
  EXPECT_EQ(document.at("warnings").at(0).at("id"), "error.unseen");
  EXPECT_EQ(document.at("reasons").at(0).at("id"), "unsupported");
}

TEST_F(Program, ExplainsAWordOfTheFormat) {
  Called const called = call("help step_counter");
  EXPECT_EQ(called.status, 0);
  EXPECT_NE(called.out.find("example: optimizer: {step_counter: parameter}"), std::string::npos);
  Called const unknown = call("help step_conter");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_NE(unknown.err.find("did you mean `step_counter`?"), std::string::npos);
  for (auto const& [other, own] :
       {std::pair("bfloat16", "bf16"), {"torch.bfloat16", "bf16"}, {"learning_rate", "lr"}}) {
    std::string const meant = std::string("(did you mean `") + own + "`?)";
    EXPECT_NE(call(std::string("help ") + other).err.find(meant), std::string::npos) << other;
    EXPECT_EQ(call(std::string("help ") + own).status, 0) << own;
  }
}

TEST_F(Program, AFullDiskIsTwo) {
  Called const called = call("laws --json /dev/full");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("/dev/full: cannot be written"), std::string::npos);
  EXPECT_EQ(shell("PROGRAM laws > /dev/full").status, 2);
}

TEST_F(Program, TheDoctorLooksAtEverything) {
  Called const called = call("doctor");
  EXPECT_EQ(called.status, 0);
  for (char const* const what : {"built by", "processor", "nvcc", "GPUs", "NCCL", "MPI"}) {
    EXPECT_NE(called.out.find(what), std::string::npos) << what;
  }
}

TEST_F(Program, AnUnknownSuiteIsTwoAndShowsThoseThereAre) {
  Called const called = call("bench --suite speed");
  EXPECT_EQ(called.status, 2);
  EXPECT_NE(called.err.find("gpt2_124m_8_ranks_wall_seconds"), std::string::npos);
}

TEST_F(Program, MeasurementsAreRows) {
  Called const called = call("bench --suite cases_per_second --json rows.json --junit rows.xml");
  ASSERT_EQ(called.status, 0) << called.err;
  auto const rows = read_json("rows.json").at("results");
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.at(0).at("suite"), "cases_per_second");
  EXPECT_EQ(rows.at(0).at("name"), "cases_per_second");
  EXPECT_GT(rows.at(0).at("value").get<double>(), 0);
  EXPECT_EQ(rows.at(0).at("unit"), "1/s");
  EXPECT_NE(read("rows.xml").find("tests=\"1\" failures=\"0\""), std::string::npos);
}

TEST_F(Program, EachSuiteIsMeasuredInAProcessOfItsOwn) {
  // At its end LeakSanitizer would begin a process of its own.
  Called const called = shell(
      "ASAN_OPTIONS=detect_leaks=0 PROGRAM bench --suite schedules_per_second --suite "
      "cases_per_second & bench=$!; "
      "while kill -0 $bench; do cat /proc/$bench/task/$bench/children; sleep 0.02; done 2> "
      "/dev/null "
      "| tr ' ' '\\n' | sort -u | grep -c . > workers");
  EXPECT_EQ(called.status, 0) << called.err;
  EXPECT_EQ(read("workers"), "2\n");
}

TEST_F(Program, CompletesCommandsAndTheirOptions) {
  auto const completed = [this](std::string const& words, int at) {
    return shell("bash -c 'source <(PROGRAM completion bash); COMP_WORDS=(" + words +
                 "); COMP_CWORD=" + std::to_string(at) + "; _adamant; echo ${COMPREPLY[@]}'")
        .out;
  };
  EXPECT_EQ(completed("adamant mi", 1), "minimize\n");
  EXPECT_EQ(completed("adamant run --fi", 2), "--filter\n");
  EXPECT_EQ(completed("adamant fuzz --col", 2), "--color\n");
  write("small.yaml", "");
  EXPECT_EQ(completed("adamant run sm", 2), "small.yaml\n");
  EXPECT_EQ(completed("adamant run small.yaml --engine sim-", 4), "sim-unchecked\n");
  EXPECT_EQ(completed("adamant doctor --engine s", 3), "\n");
  EXPECT_EQ(completed("adamant run --bug mean_not", 3), "mean_not_divided\n");
  EXPECT_EQ(completed("adamant fuzz --color al", 3), "always\n");
  EXPECT_EQ(completed("adamant bench --suite gpt2_124m_8_ranks_w", 3),
            "gpt2_124m_8_ranks_wall_seconds\n");
  EXPECT_EQ(completed("adamant hunt mean_not", 2), "mean_not_divided\n");
  EXPECT_EQ(completed("adamant hunt te_2795 --out sm", 4), "small.yaml\n");
  EXPECT_EQ(completed("adamant help beta", 2), "betas\n");
  EXPECT_EQ(completed("adamant completion z", 2), "zsh\n");
  EXPECT_EQ(call("completion zsh").out.rfind("autoload -U +X bashcompinit", 0), 0U);
  EXPECT_NE(call("completion fish").out.find("'__fish_seen_subcommand_from run' -l filter -d"),
            std::string::npos);
  EXPECT_NE(call("completion fish").out.find(" -x -a 'sim sim-unchecked cuda'"), std::string::npos);
  EXPECT_EQ(call("completion csh").status, 2);
}

}  // namespace
}  // namespace adamant::scenarios
