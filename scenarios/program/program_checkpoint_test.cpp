// Checkpoints that pass from one call of `adamant run` to another, as TransformerEngine's pull
// request 2795 tests its own: one process saves on four ranks, a second loads on two and compares.
#include "scenarios/program/testing/called_program.h"

namespace adamant::scenarios {
namespace {

using CheckpointProgram = ProgramTest;

std::string scenario(std::string const& ranks, std::string const& program) {
  return "adamant: 1\nname: n\nseed: 7\nworld: {shard: " + ranks +
         "}\nparams:\n  - {name: embed.weight, shape: [10, 3]}\n"
         "  - {name: head.bias, shape: [3], group: slow}\ngroups: {slow: {lr: 0.125}}\n"
         "optimizer: {lr: 0.25}\nprogram: " +
         program + "\n";
}

// A step without gradients keeps values: the dump behind it is what was loaded.
TEST_F(CheckpointProgram, OneProcessSavesOnFourRanksAndASecondLoadsOnTwo) {
  write("first.yaml", scenario("4", "[{train: 2}, {save: ckpt}, {train: 1}]"));
  Called const first = call("run first.yaml --dump saved");
  ASSERT_EQ(first.status, 0) << first.out << first.err;
  EXPECT_TRUE(exists("saved/ckpt/adamant.json"));
  EXPECT_TRUE(exists("saved/ckpt/shard-00004-model-00001-of-00001.safetensors"));

  write("saved/second.yaml", scenario("2", "[{load: ckpt}, step, {train: 1}]"));
  Called const second = call("run saved/second.yaml --dump loaded --json out.json");
  ASSERT_EQ(second.status, 0) << second.out << second.err;
  EXPECT_EQ(read("loaded/state_001.safetensors"), read("saved/state_002.safetensors"));
  EXPECT_EQ(read_json("out.json").at("results").at(0).at("outcome"), "pass");
}

// Whoever puts parts together goes by their names.
TEST_F(CheckpointProgram, PartsMayComeInAnotherOrderThanTheyWereSavedIn) {
  auto const fused = [](std::string const& ranks, std::string const& parts,
                        std::string const& program) {
    return "adamant: 1\nname: n\nseed: 7\nworld: {shard: " + ranks +
           "}\nparams:\n  - {name: w, shape: [8, 3], parts: " + parts + "}\nprogram: " + program +
           "\n";
  };
  write("first.yaml", fused("3", "[up, gate]", "[{train: 2}, {save: ckpt}]"));
  Called const first = call("run first.yaml --dump saved");
  ASSERT_EQ(first.status, 0) << first.out << first.err;
  write("saved/second.yaml", fused("2", "[gate, up]", "[{load: ckpt}, {train: 1}]"));
  Called const second = call("run saved/second.yaml");
  EXPECT_EQ(second.status, 0) << second.out << second.err;
}

TEST_F(CheckpointProgram, TheSecondAloneSaysWhatIsMissing) {
  write("second.yaml", scenario("2", "[{load: ckpt}, step]"));
  Called const second = call("run second.yaml");
  EXPECT_EQ(second.status, 2);
  EXPECT_NE(second.err.find("second.yaml:10: program[0].load: nothing to load"), std::string::npos)
      << second.err;
  EXPECT_NE(second.err.find("`ckpt`"), std::string::npos) << second.err;
}

/// The same with as many rows on every rank.
std::string even_scenario(std::string const& ranks, std::string const& program) {
  std::string text = scenario(ranks, program);
  text.replace(text.find("[10, 3]"), 7, "[8, 3]");
  return text.replace(text.find("[3]"), 3, "[4]");
}

// With that pull request's mistake in both: the files give it away. As many ranks load wrong
// moments without a word; on fewer, sizes do not match.
TEST_F(CheckpointProgram, AShardSavedAsTheWholeIsFoundOnFourRanksAndRefusedOnTwo) {
  write("first.yaml", even_scenario("4", "[{train: 2}, {save: ckpt}]"));
  ASSERT_EQ(call("run first.yaml --bug te_2795 --dump saved --json first.json").status, 1);
  auto const first = read_json("first.json").at("results").at(0);
  EXPECT_EQ(first.at("violations").at(0).at("law"), "checkpoint.roundtrip") << first;

  write("saved/four.yaml", even_scenario("4", "[{load: ckpt}]"));
  EXPECT_EQ(call("run saved/four.yaml --bug te_2795 --json four.json").status, 1);
  auto const four = read_json("four.json").at("results").at(0);
  EXPECT_EQ(four.at("outcome"), "violated") << four;

  write("saved/two.yaml", even_scenario("2", "[{load: ckpt}]"));
  EXPECT_EQ(call("run saved/two.yaml --bug te_2795 --json two.json").status, 1);
  auto const two = read_json("two.json").at("results").at(0);
  EXPECT_EQ(two.at("reason"), "incompatible_checkpoint") << two;
  auto const message = two.at("message").get<std::string>();
  EXPECT_NE(message.find("optim.state.embed.weight.exp_avg"), std::string::npos) << message;
  EXPECT_NE(message.find("saved [2, 3], current [4, 3]"), std::string::npos) << message;
}

TEST_F(CheckpointProgram, AFileOfTheFirstThatWasChangedIsRefusedByTheSecond) {
  write("first.yaml", scenario("4", "[{train: 2}, {save: ckpt}]"));
  ASSERT_EQ(call("run first.yaml --dump saved").status, 0);
  write("saved/second.yaml", scenario("2", "[{load: ckpt}, step]"));
  std::string const name = "saved/ckpt/shard-00002-model-00001-of-00001.safetensors";
  std::string bytes = read(name);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  write(name, bytes);
  Called const second = call("run saved/second.yaml --json out.json");
  EXPECT_EQ(second.status, 1) << second.err;
  auto const result = read_json("out.json").at("results").at(0);
  EXPECT_EQ(result.at("outcome"), "refused");
  EXPECT_EQ(result.at("reason"), "damaged_checkpoint");
}

TEST_F(CheckpointProgram, AnotherModelIsRefusedByName) {
  write("first.yaml", scenario("4", "[{save: ckpt}]"));
  ASSERT_EQ(call("run first.yaml --dump saved").status, 0);
  std::string other = scenario("2", "[{load: ckpt}]");
  other.replace(other.find("[10, 3]"), 7, "[11, 3]");
  write("saved/second.yaml", other + "expect: {refused: incompatible_checkpoint}\n");
  Called const second = call("run saved/second.yaml --json out.json");
  EXPECT_EQ(second.status, 0) << second.out << second.err;
  auto const message = read_json("out.json").at("results").at(0).at("message").get<std::string>();
  EXPECT_NE(message.find("embed.weight"), std::string::npos) << message;
  EXPECT_NE(message.find("[10, 3]"), std::string::npos) << message;
}

}  // namespace
}  // namespace adamant::scenarios
