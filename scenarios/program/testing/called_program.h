// The built program as tests drive it: a call, what it printed on each stream, and its status. Each
// test gets a directory of its own.
#pragma once

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace adamant::scenarios {

struct Called {
  int status = -1;
  std::string out;
  std::string err;
};

class ProgramTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  /// `adamant ARGUMENTS` by the shell, in the test's directory.
  Called call(std::string const& arguments) const;
  /// The same by `command`, in which PROGRAM stands for the program.
  Called shell(std::string command) const;

  std::filesystem::path write(std::string const& name, std::string_view text) const;
  std::string read(std::string const& name) const;
  nlohmann::json read_json(std::string const& name) const;
  /// Called with each that is read (results_schema.h), where the project's files are at hand.
  static inline void (*look_at_results)(nlohmann::json const&) = nullptr;
  bool exists(std::string const& name) const { return std::filesystem::exists(folder_ / name); }
  /// Names of files in the test's directory, those of temporaries too.
  std::string listing() const;

  std::filesystem::path folder_;
};

/// Shell commands that wait, at most half a minute, for a file: `pattern` as `ls` takes it.
std::string until_exists(std::string const& pattern);

/// Whether one of three tries of `work` ends within `bound`: another program of the machine may
/// make one late, what has no bound is late each time.
bool is_in_time(std::chrono::milliseconds bound, std::function<void()> const& work);

/// A scenario that passes: `extra` lines go to its end.
std::string passing_scenario(std::string const& extra = "seed: 7\n");
/// One that takes hours.
std::string endless_scenario();

}  // namespace adamant::scenarios
