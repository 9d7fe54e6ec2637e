#include "scenarios/program/testing/called_program.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "scenarios/language/plain_text.h"

namespace adamant::scenarios {

namespace {

/// That of the build, or the one that is named: where tests run elsewhere than they were built.
std::string program() {
  char const* const named = std::getenv("ADAMANT_PROGRAM");
  std::string path = named == nullptr ? ADAMANT_PROGRAM : named;
  EXPECT_TRUE(std::filesystem::exists(path))
      << path << " is not there: build it, or name another one by ADAMANT_PROGRAM";
  return path;
}

}  // namespace

void ProgramTest::SetUp() {
  auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
  folder_ = std::filesystem::path(testing::TempDir()) /
            ("adamant_" + std::string(test->test_suite_name()) + "_" + test->name() + "_" +
             std::to_string(::getpid()));  // other builds may be tested beside this one
  std::filesystem::remove_all(folder_);
  std::filesystem::create_directories(folder_);
}

void ProgramTest::TearDown() {
  std::filesystem::remove_all(folder_);
}

Called ProgramTest::call(std::string const& arguments) const {
  return shell("PROGRAM " + arguments);
}

Called ProgramTest::shell(std::string command) const {
  std::string const word = "PROGRAM";
  std::string const path = program();
  for (auto at = command.find(word); at != std::string::npos; at = command.find(word, at)) {
    command.replace(at, word.size(), path);
    at += path.size();
  }
  std::string const whole = "cd " + shell_quoted(folder_.string()) + " && { " + command +
                            "; } > .out 2> .err < /dev/null";
  int const status = std::system(whole.c_str());
  Called called{.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                .out = read(".out"),
                .err = read(".err")};
  std::filesystem::remove(folder_ / ".out");
  std::filesystem::remove(folder_ / ".err");
  return called;
}

std::filesystem::path ProgramTest::write(std::string const& name, std::string_view text) const {
  auto const path = folder_ / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path) << text;
  return path;
}

std::string ProgramTest::read(std::string const& name) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / name).rdbuf();
  return text.str();
}

nlohmann::json ProgramTest::read_json(std::string const& name) const {
  auto json = nlohmann::json::parse(read(name));
  if (look_at_results != nullptr) look_at_results(json);
  return json;
}

std::string ProgramTest::listing() const {
  std::vector<std::string> names;
  for (auto const& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::string const& name : names) text += name + " ";
  return text;
}

std::string until_exists(std::string const& pattern) {
  return "for i in $(seq 3000); do ls " + pattern + " >/dev/null 2>&1 && break; sleep 0.01; done; ";
}

bool is_in_time(std::chrono::milliseconds bound, std::function<void()> const& work) {
  for (int tries = 0; tries < 3; ++tries) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    if (std::chrono::steady_clock::now() - begin <= bound) return true;
  }
  return false;
}

std::string passing_scenario(std::string const& extra) {
  return "adamant: 1\n"
         "name: small\n"
         "world: {shard: 2}\n"
         "params: [{name: w, shape: [3, 2]}]\n"
         "program: [{train: 2}]\n" +
         extra;
}

std::string endless_scenario() {
  return "adamant: 1\n"
         "name: endless\n"
         "world: {shard: 2}\n"
         "params: [{name: w, shape: [3]}]\n"
         "program: [{train: 100000000}]\n"
         "seed: 1\n";
}

}  // namespace adamant::scenarios
