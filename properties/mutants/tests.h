// The tests that this program has, which are those of the harness's rooms: what each of them costs
// and which functions with mistakes it reaches, found by running all of them once.
#pragma once

#include <string>
#include <vector>

namespace adamant::properties {

struct Test {
  std::string name;
  double seconds = 0;
  std::vector<std::size_t> reached = {};  // places (selected_in_harness.h), ascending
};

/// Runs all tests without any mistake, each suite in a process of its own, where it also reaches
/// what is done once a process, and keeps what it found in the file `path`: where it is there
/// already, nothing is run. Those that fail are listed on the standard error.
///
/// Errors: std::runtime_error where one fails.
std::vector<Test> run_once(std::string const& path);

/// Those that reach the place, of so many seconds together: first those that reach most places for
/// their time.
std::vector<Test const*> that_reach(std::vector<Test> const& tests, std::size_t place,
                                    double seconds_max);

}  // namespace adamant::properties
