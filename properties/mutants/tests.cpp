#include "properties/mutants/tests.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

#include "scenarios/bugs/selected_in_harness.h"

namespace adamant::properties {

namespace {

std::string name_of(testing::TestInfo const& info) {
  return std::string(info.test_suite_name()) + "." + info.name();
}

/// Writes a line for each test. What a suite sets up counts as its first test's.
class Recorder : public testing::EmptyTestEventListener {
 public:
  explicit Recorder(std::string const& path) : out_(path, std::ios::app) {}

  void OnTestEnd(testing::TestInfo const& info) override {
    auto& reached = bugs::harness.reached;
    if (info.result()->Failed()) std::cerr << name_of(info) << " fails without any mistake\n";
    out_ << name_of(info) << " " << static_cast<double>(info.result()->elapsed_time()) / 1e3;
    for (std::size_t place = 0; place < reached.size(); ++place)
      if (reached[place]) out_ << " " << place;
    out_ << std::endl;
    reached.fill(false);
  }

 private:
  std::ofstream out_;
};

[[noreturn]] void record(std::string const& suite, std::string const& path) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new Recorder(path));
  GTEST_FLAG_SET(filter, suite + ".*");
  bugs::harness.reached.fill(false);
  std::_Exit(RUN_ALL_TESTS());
}

std::vector<Test> read_tests(std::string const& path) {
  std::vector<Test> tests;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Test& test = tests.emplace_back();
    words >> test.name >> test.seconds;
    for (std::size_t place = 0; words >> place;) test.reached.push_back(place);
  }
  return tests;
}

}  // namespace

std::vector<Test> run_once(std::string const& path) {
  if (std::filesystem::exists(path)) return read_tests(path);
  std::string const unfinished = path + ".unfinished";
  std::filesystem::remove(unfinished);
  bool all_pass = true;
  testing::UnitTest const& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    pid_t const child = ::fork();
    if (child == 0) record(all.GetTestSuite(suite)->name(), unfinished);
    int status = 0;
    ::waitpid(child, &status, 0);
    all_pass = all_pass && status == 0;
  }
  if (!all_pass) throw std::runtime_error("the tests fail without any mistake");
  std::filesystem::rename(unfinished, path);
  return read_tests(path);
}

std::vector<Test const*> that_reach(std::vector<Test> const& tests, std::size_t place,
                                    double seconds_max) {
  std::vector<Test const*> found;
  for (Test const& test : tests)
    if (std::ranges::binary_search(test.reached, place)) found.push_back(&test);
  std::ranges::stable_sort(found, {}, [](Test const* test) {
    return test->seconds / static_cast<double>(test->reached.size());
  });
  double seconds = 0;
  auto const end = std::ranges::find_if(
      found, [&](Test const* test) { return (seconds += test->seconds) > seconds_max; });
  found.erase(end, found.end());
  return found;
}

}  // namespace adamant::properties
