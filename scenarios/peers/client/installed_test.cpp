// Adapters by name: the first Python that has the module, wherever it stands in PATH; none, and
// what to do then.
#include "scenarios/peers/client/peer_engine.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "scenarios/language/plain_text.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/runner/testing/python.h"
#include "scenarios/runner/testing/scratch.h"
#include "scenarios/seam/engine.h"

namespace adamant::scenarios {
namespace {

namespace fs = std::filesystem;

/// Of the environment, for as long as it lives.
class Variable {
 public:
  Variable(char const* name, std::string const& value) : name_(name) {
    if (char const* const before = std::getenv(name)) before_ = before;
    ::setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? ::unsetenv(name_) : ::setenv(name_, before_.c_str(), 1); }
  Variable(Variable const&) = delete;  // two would put back each other's value
  Variable& operator=(Variable const&) = delete;

 private:
  char const* name_;
  std::string before_;
};

class InstalledAdapter : public testing::Test {
 protected:
  void SetUp() override {
    if (!python_runs(""))
      GTEST_SKIP() << "there is no " << python_program() << " (ADAMANT_PYTHON names another)";
  }

  /// A python3 in a folder of its own that finds modules in `modules`, too.
  std::string python(std::string const& folder, std::string const& modules) const {
    fs::create_directories(scratch_ / folder.c_str());
    fs::path const program = scratch_ / folder.c_str() / "python3";
    std::ofstream(program) << "#!/bin/sh\nPYTHONPATH=" << (scratch_ / modules.c_str()).string()
                           << " PATH=" << std::getenv("PATH") << " exec " << python_program()
                           << " \"$@\"\n";
    fs::permissions(program, fs::perms::owner_all);
    return (scratch_ / folder.c_str()).string();
  }
  void add_module(std::string const& folder, std::string const& name) const {
    fs::create_directories(scratch_ / folder.c_str());
    std::ofstream(scratch_ / folder.c_str() / (name + ".py"))
        << "raise SystemExit('is not imported')\n";
  }
  void add_distribution(std::string const& folder, std::string const& name,
                        std::string const& needs) const {
    fs::path const place = scratch_ / (folder + "/" + name + "-1.dist-info").c_str();
    fs::create_directories(place);
    std::ofstream(place / "METADATA") << "Metadata-Version: 2.4\nName: " << name << "\nVersion: 1\n"
                                      << needs;
  }
  static std::string reason(std::string const& name) {
    try {
      return "found: " + command_of_peer(name);
    } catch (MachineLacks const& error) {
      return error.what();
    }
  }

  Scratch scratch_;
};

TEST_F(InstalledAdapter, IsThatOfTheFirstPythonThatHasIt) {
  add_module("modules", "adamant_of_test");
  std::string const without = python("without", "empty");
  std::string const with = python("with it's", "modules");
  std::string const broken = python("broken", "empty");
  std::ofstream(broken + "/python3") << "#!/bin/sh\nexit 3\n";
  Variable const path("PATH", broken + ":" + without + ":" + with + ":" + std::getenv("PATH"));
  EXPECT_EQ(command_of_peer("of_test"),
            "exec " + shell_quoted(with + "/python3") + " -m adamant_of_test");
  EXPECT_EQ(command_of_peer("of-test"), command_of_peer("of_test"));
}

// All adapters are one distribution: their modules are there without what their engines need.
TEST_F(InstalledAdapter, IsOneWhoseEngineIsInstalledToo) {
  for (std::string const folder : {"lacking", "whole"}) {
    for (char const* const name : {"adamant_needy", "adamant_needy_too", "adamant_else"})
      add_module(folder, name);
    add_distribution(folder, "adamant_peers",
                     "Requires-Dist: engine-of-it==1; extra == 'needy'\n"
                     "Requires-Dist: nothing-of-it; extra == 'need'\n");
  }
  add_distribution("whole", "engine_of_it", "");
  std::string const lacks = python("lacks", "lacking");
  std::string const has = python("has", "whole");
  Variable const path("PATH", lacks + ":" + has + ":" + std::getenv("PATH"));
  for (std::string const name : {"needy", "needy_too"})
    EXPECT_EQ(command_of_peer(name),
              "exec " + shell_quoted(has + "/python3") + " -m adamant_" + name);
  EXPECT_EQ(command_of_peer("else"),
            "exec " + shell_quoted(lacks + "/python3") + " -m adamant_else");
}

TEST_F(InstalledAdapter, IsNotOneWhoseSourcesAreInTheCurrentDirectory) {
  add_module("sources", "adamant_in_sources");
  fs::path const before = fs::current_path();
  fs::current_path(scratch_ / "sources");
  std::string const found = reason("in_sources");
  fs::current_path(before);
  EXPECT_EQ(found.rfind("engine `in_sources`", 0), 0U) << found;
}

TEST_F(InstalledAdapter, IsToldHowToBeInstalledWhereNoneHasIt) {
  EXPECT_NE(reason("abacus").find("`.ci/setup --peers abacus` installs it"), std::string::npos);
  EXPECT_EQ(reason("abacus").find("did you mean"), std::string::npos) << reason("abacus");
  EXPECT_NE(reason("sim-uncheckd").find("(did you mean `sim-unchecked`?)"), std::string::npos);
}

TEST_F(InstalledAdapter, OfPyTorchIsWhatTheEnvironmentSaysFirst) {
  Variable const chosen("ADAMANT_TORCH", "exec something else");
  EXPECT_EQ(command_of_peer("torch"), "exec something else");
}

// Such a file runs from any directory: a command would have to be trusted, and to be in PATH.
TEST(KnownScenario, NamesTheAdapterInWhoseFolderItLies) {
  std::size_t seen = 0;
  for (auto const& entry :
       fs::recursive_directory_iterator(ADAMANT_SOURCE_DIR "/scenarios/peers")) {
    std::string const path = entry.path().string();
    std::size_t const known = path.find("/known/");
    if (known == std::string::npos || entry.path().extension() != ".yaml") continue;
    if (entry.path().filename() == "known.yaml") continue;
    ++seen;
    std::string const name = load_scenario_file(entry.path()).engine.name;
    std::string const package = path.substr(0, path.find('/', path.find("/adamant_") + 1));
    fs::path const module = fs::path(package).parent_path() / ("adamant_" + name) / "__main__.py";
    EXPECT_TRUE(fs::exists(module)) << path << " is of engine " << name;
  }
  EXPECT_GT(seen, 150U);
}

}  // namespace
}  // namespace adamant::scenarios
