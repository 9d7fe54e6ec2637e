// PyTorch as the other side: what DCP saved from FSDP2 loads here, what is saved here loads there.
// The interpreter is ADAMANT_PYTHON or python3; without PyTorch in it, files that it wrote once
// (testdata/dcp_3_ranks) stand in for one direction and the other is skipped.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/names.h"
#include "real/checkpoint/posix_storage.h"
#include "real/cuda/numbers.h"
#include "real/testing/small_world.h"
#include "real/testing/temporary_directory.h"

namespace adamant::real {
namespace {

/// Where the script and the files of before are. Tests run in the root of a checkout, or of what
/// was packed of one.
std::string folder() {
  std::string const name = "real/checkpoint/";
  if (std::filesystem::exists(name)) return name;
  throw std::runtime_error(name + " is not in " + std::filesystem::current_path().string() +
                           ": run this in the root of a checkout or of a pack");
}

/// The model of dcp.py.
EngineConfig torch_config() {
  EngineConfig config;
  config.parameters = {{.name = "embed", .shape = {7, 3}},
                       {.name = "one", .shape = {1, 2}},
                       {.name = "head", .shape = {37}, .unit = 1}};
  config.groups = {{.mode = AdamMode::adam, .learning_rate = 0.25F}};
  config.group_names = {"default"};
  return config;
}

/// Exit status of dcp.py with these arguments.
int run_script(std::string const& arguments) {
  char const* const chosen = std::getenv("ADAMANT_PYTHON");
  std::string command = "OMP_NUM_THREADS=1 ";
  command.append(chosen != nullptr ? chosen : "python3").append(" ").append(folder());
  command.append("pytorch/dcp.py ").append(arguments);
  int const status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_torch() {
  static bool const has = run_script("probe 2> /dev/null") == 0;
  return has;
}

#define ADAMANT_NEEDS_TORCH() \
  if (!has_torch()) GTEST_SKIP() << "no PyTorch with safetensors in ADAMANT_PYTHON or python3"

std::vector<std::byte> read_bytes(std::string const& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  std::string const text((std::istreambuf_iterator<char>(stream)), {});
  auto const bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

char const* const state_names[] = {"exp_avg", "exp_avg_sq"};

/// Whole tensors as dcp.py wrote them beside its files, in the order of state_of().
State expected_state(std::string const& directory) {
  State state;
  for (ParameterSpec const& spec : torch_config().parameters) {
    state.push_back(read_bytes(directory + "/" + model_key(spec.name) + ".bin"));
    for (char const* const what : state_names)
      state.push_back(read_bytes(directory + "/" + state_key(spec.name, what) + ".bin"));
    state.emplace_back();  // no main weight
  }
  return state;
}

void write_bytes(std::string const& path, std::vector<std::byte> const& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<char const*>(bytes.data()), std::ssize(bytes));
}

void expect_loads_here(std::string const& directory) {
  PosixStorage storage;
  State const expected = expected_state(directory);
  for (int const ranks : {1, 2, 5}) {
    State const loaded = in_world(ranks, torch_config(), [&](Rank& rank) {
      LoadReport const report = rank.engine->load(storage, directory);
      ASSERT_EQ(report.notes.size(), 1U);
      EXPECT_NE(report.notes[0].find("no adamant.json"), std::string::npos);
      EXPECT_EQ(rank.engine->step_count(0), 3);
      EXPECT_EQ(rank.engine->group(0), torch_config().groups[0]);
    });
    EXPECT_EQ(loaded, expected) << ranks;
  }
}

TEST(CheckpointPytorch, FilesThatDcpSavedOnceLoadHere) {
  ADAMANT_NEEDS(5, Devices::shared);
  expect_loads_here(folder() + "testdata/dcp_3_ranks");
}

TEST(CheckpointPytorch, WhatDcpSavesNowLoadsHere) {
  ADAMANT_NEEDS(5, Devices::shared);
  ADAMANT_NEEDS_TORCH();
  TemporaryDirectory const directory;
  ASSERT_EQ(run_script("save " + directory.path() + " 3 some.prefix."), 0);
  expect_loads_here(directory.path());
}

TEST(CheckpointPytorch, WhatIsSavedHereLoadsThere) {
  ADAMANT_NEEDS(4, Devices::shared);
  ADAMANT_NEEDS_TORCH();
  TemporaryDirectory const scratch;
  std::string const directory = scratch / "saved";
  PosixStorage storage;
  EngineConfig config = torch_config();
  config.parameters[1].formats = {
      .parameter = NumberFormat::bf16, .exp_avg = NumberFormat::bf16, .main = NumberFormat::fp32};
  State const state = in_world(4, config, [&](Rank& rank) {
    rank.write(0.1F);
    rank.train(2);
    rank.engine->save(storage, directory);
  });
  std::size_t t = 0;
  for (ParameterSpec const& spec : config.parameters) {
    Formats const& formats = spec.formats;
    std::pair<std::string, NumberFormat> const tensors[] = {
        {model_key(spec.name), formats.parameter},
        {state_key(spec.name, "exp_avg"), formats.exp_avg},
        {state_key(spec.name, "exp_avg_sq"), formats.exp_avg_sq},
        {state_key(spec.name, "main"), formats.main.value_or(NumberFormat::fp32)}};
    for (auto const& [key, format] : tensors) {
      std::vector<std::byte> const& stored = state[t++];
      if (format != NumberFormat::fp32) write_bytes(directory + "/" + key + ".raw.bin", stored);
      std::vector<float> const values = decoded(stored, format);
      auto const bytes = std::as_bytes(std::span(values));
      write_bytes(directory + "/" + key + ".bin", {bytes.begin(), bytes.end()});
    }
    write_bytes(directory + "/" + state_key(spec.name, "step") + ".bin",
                {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{0x40}});  // 2, in binary32
  }
  EXPECT_EQ(run_script("load " + directory + " 3"), 0);
}

// Without a manifest only the model knows how large a tensor is: PyTorch takes what is there.
TEST(CheckpointPytorch, AMissingLastFileIsRefused) {
  ADAMANT_NEEDS(2, Devices::shared);
  TemporaryDirectory const directory;
  for (int rank = 0; rank < 2; ++rank)
    write_bytes(directory / shard_file_name(rank),
                read_bytes(folder() + "testdata/dcp_3_ranks/" + shard_file_name(rank)));
  EngineConfig config = torch_config();
  config.parameters.erase(config.parameters.begin() + 1);  // its step lies in the last file
  PosixStorage storage;
  in_world(2, config, [&](Rank& rank) {
    try {
      rank.engine->load(storage, directory.path());
      FAIL() << "a tensor without its end was loaded";
    } catch (CheckpointError const& error) {
      EXPECT_EQ(std::string(error.what()),
                "rank 0: tensor app.model.embed: size mismatch: saved [6, 3], current [7, 3]");
    }
  });
}

TEST(CheckpointPytorch, AMissingMiddleFileIsRefused) {
  ADAMANT_NEEDS(2, Devices::shared);
  TemporaryDirectory const directory;
  for (int const rank : {0, 2})
    write_bytes(directory / shard_file_name(rank),
                read_bytes(folder() + "testdata/dcp_3_ranks/" + shard_file_name(rank)));
  PosixStorage storage;
  in_world(2, torch_config(), [&](Rank& rank) {
    EXPECT_THROW(rank.engine->load(storage, directory.path()), CheckpointError);
    EXPECT_TRUE(rank.engine->has_state());
  });
}

}  // namespace
}  // namespace adamant::real
