// The files of a run on GPUs, which need none.
#include "scenarios/engines/cuda/cuda_files.h"

#include <gtest/gtest.h>

#include <string_view>

#include "scenarios/runner/testing/small_scenario.h"

namespace adamant::scenarios {
namespace {

class FilesOnGpus : public ::testing::Test {
 protected:
  FilesOnGpus() { scenario_.program = {operation(Save{"a"}), operation(Load{.from = "a"})}; }

  EngineTask task() {
    return {.scenario = scenario_,
            .program = program_,
            .parameters = none_,
            .schedule = {},
            .initial_values = {}};
  }

  static void write(real::Storage& storage, std::string const& path, std::string_view text) {
    storage.create(path)->append(std::as_bytes(std::span(text)));
  }
  static std::string content(CheckpointFiles const& files, std::string_view checkpoint) {
    std::string all;
    for (StoredFile const& file : files.files_of(checkpoint)) {
      all += file.name + "=";
      for (std::byte const byte : file.bytes) all += static_cast<char>(byte);
      all += ";";
    }
    return all;
  }

  Scenario scenario_ = small_scenario();
  Program program_{scenario_};
  std::vector<ParameterSpec> none_;
};

TEST_F(FilesOnGpus, AreOfAllRanksAndShownByName) {
  EngineTask const of_run = task();
  CudaFiles files(of_run);
  EXPECT_EQ(content(files, "a"), "");
  files.storage_of(0)->make_directory("a");
  write(*files.storage_of(1), "a/second", "two");
  write(*files.storage_of(0), "a/first", "one");
  EXPECT_EQ(content(files, "a"), "first=one;second=two;");
  EXPECT_FALSE(files.end_save("a"));
  EXPECT_TRUE(files.begin_load("a").empty());
}

TEST_F(FilesOnGpus, AreDamagedAsTheScenarioWants) {
  scenario_.faults = {
      {.at = Fault::Where::load, .then = Fault::Then::truncate, .nth = 1, .byte = 1},
      {.at = Fault::Where::load, .then = Fault::Then::remove_file, .nth = 2}};
  EngineTask const of_run = task();
  CudaFiles files(of_run);
  files.storage_of(0)->make_directory("a");
  write(*files.storage_of(0), "a/first", "one");
  write(*files.storage_of(0), "a/second", "two");
  ASSERT_EQ(files.begin_load("a").size(), 1U);
  EXPECT_EQ(content(files, "a"), "first=o;second=two;");
  ASSERT_EQ(files.begin_load("a").size(), 1U);
  EXPECT_EQ(content(files, "a"), "second=two;");
}

TEST_F(FilesOnGpus, ThatNobodySavedHaveToBeBesideTheScenario) {
  scenario_.program = {operation(Load{.from = "elsewhere"})};
  program_ = Program(scenario_);
  EngineTask const of_run = task();
  EXPECT_THROW(CudaFiles{of_run}, MachineLacks);
}

}  // namespace
}  // namespace adamant::scenarios
