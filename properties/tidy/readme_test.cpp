// What the documents show is what happens: a line that begins with "$ " is a command, and what it
// prints follows. Commands of one document run one after the other in one folder, in which the
// project's own folders seem to lie.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

struct Example {
  std::string command;
  std::string output;
};

/// The blocks of a document between ``` and ```, with the word behind the first.
struct Block {
  std::string language;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(std::string const& path) {
  std::vector<Block> blocks;
  std::ifstream stream(path);
  EXPECT_TRUE(stream.good()) << path;
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = !inside;
      if (inside) blocks.push_back({line.substr(3), {}});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

std::vector<Example> examples_of(std::string const& path) {
  std::vector<Example> examples;
  for (Block const& block : blocks_of(path)) {
    bool shows_command = false;
    for (std::string const& line : block.lines) {
      if (line.rfind("$ ", 0) == 0) {
        shows_command = true;
        examples.push_back({line.substr(2), ""});
      } else if (shows_command) {
        examples.back().output += line + "\n";
      }
    }
  }
  return examples;
}

/// What may differ from run to run, or with an edit elsewhere: durations, and how often a minimiser
/// asks.
std::string steady(std::string const& text) {
  static std::regex const seconds("[0-9]+\\.[0-9]+ s\\b");
  static std::regex const runs("in [0-9]+ runs");
  return std::regex_replace(std::regex_replace(text, seconds, "… s"), runs, "in … runs");
}

std::string output_of(std::string const& command) {
  std::string output;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "the command did not start";
  std::array<char, 4096> part;
  while (std::size_t const count = std::fread(part.data(), 1, part.size(), pipe)) {
    output.append(part.data(), count);
  }
  pclose(pipe);
  return output;
}

/// A folder in which a document's commands run, as they would where the project was built.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "adamant_readme_XXXXXX").string();
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
    fs::create_directory(path_ / "build");
    fs::create_directory_symlink(ADAMANT_BINARY_DIR, path_ / "build" / "dev");
    for (char const* const folder : {"scenarios", "sim", "real", "oracle", "properties"})
      fs::create_directory_symlink(fs::path(ADAMANT_SOURCE_DIR) / folder, path_ / folder);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;

  std::string run(std::string const& command) const {
    return output_of("cd '" + path_.string() + "' && export HOME=\"$PWD\" && " + command +
                     " 2>/dev/null");
  }

 private:
  fs::path path_;
};

class Readme : public testing::TestWithParam<char const*> {
 protected:
  std::string path() const { return std::string(ADAMANT_SOURCE_DIR "/") + GetParam(); }
};

TEST_P(Readme, CommandsPrintWhatItShows) {
#ifdef ADAMANT_UNCHECKED_ONLY
  GTEST_SKIP() << "the examples show checked runs, and this build's sanitizers exclude those";
#endif
  Folder const folder;
  auto const examples = examples_of(path());
  for (Example const& example : examples) {
    EXPECT_EQ(steady(folder.run(example.command)), steady(example.output)) << example.command;
  }
}

/// A command that stands in a block without "$ " is executed by somebody else; by whom stands here.
bool is_executed_elsewhere(std::string const& line) {
  for (char const* const known : {
           ".ci/setup",                              // .ci/run begins with it
           "cmake --workflow",                       // .ci/run
           "python3 scenarios/",                     // tests beside the script
           "python found/",                          // script_in_torch_test.cpp; needs PyTorch
           "build/dev/adamant fuzz --engine torch",  // likewise
       })
    if (line.rfind(known, 0) == 0) return true;
  return false;
}

TEST_P(Readme, ShowsNoCommandThatNobodyExecutes) {
  static std::regex const command(
      "(build/dev/|adamant [a-z]|python|cmake|\\.ci/|ctest|source |mpirun|sbatch|pip ).*");
  for (Block const& block : blocks_of(path())) {
    if (!block.language.empty() || block.lines.empty()) continue;
    std::string const& first = block.lines.front();
    EXPECT_TRUE(!std::regex_match(first, command) || is_executed_elsewhere(first)) << first;
  }
}

TEST_P(Readme, ScenariosAreRead) {
  Folder const folder;
  for (Block const& block : blocks_of(path())) {
    bool const whole = !block.lines.empty() && block.lines.front().rfind("adamant: ", 0) == 0;
    if (block.language != "yaml" || !whole) continue;
    std::string text;
    for (std::string const& line : block.lines) text += line + "\n";
    std::string const told =
        folder.run("cat > scenario.yaml <<'END'\n" + text +
                   "END\nbuild/dev/adamant run --seed 1 scenario.yaml; echo \"status $?\"");
    EXPECT_NE(told.find("status 0"), told.npos) << text << told;
  }
}

INSTANTIATE_TEST_SUITE_P(, Readme, testing::Values("README.md", "scenarios/README.md"),
                         [](auto const& document) {
                           std::string name = document.param;
                           return name == "README.md" ? std::string("OfTheProject")
                                                      : std::string("OfScenarios");
                         });

// ---- what scenarios/README.md promises beside
// -----------------------------------------------------

constexpr char const* scenarios_readme = ADAMANT_SOURCE_DIR "/scenarios/README.md";

void add_keys(nlohmann::json const& schema, std::set<std::string>& keys) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object())
    for (auto const& property : schema["properties"].items()) keys.insert(property.key());
  if (!schema.is_structured()) return;
  for (nlohmann::json const& part : schema) add_keys(part, keys);
}

TEST(ScenariosReadme, ShowsEveryKeyByExample) {
  std::ifstream stream(ADAMANT_SOURCE_DIR "/scenarios/schema.json");
  std::set<std::string> keys;
  add_keys(nlohmann::json::parse(stream), keys);
  EXPECT_GT(keys.size(), 60U);
  std::set<std::string> shown = {"model", "bug", "file", "byte"};  // in its text and tables
  std::regex const word("[a-z_]+");
  for (Block const& block : blocks_of(scenarios_readme)) {
    if (block.language != "yaml") continue;
    for (std::string const& line : block.lines)
      for (std::sregex_iterator at(line.begin(), line.end(), word), last; at != last; ++at)
        shown.insert(at->str());
  }
  for (std::string const& key : keys) EXPECT_TRUE(shown.contains(key)) << key;
}

/// The texts between ` and ` in one cell of a table.
std::vector<std::string> quoted_in(std::string const& cell) {
  std::vector<std::string> texts;
  std::regex const quoted("`([^`]*)`");
  for (std::sregex_iterator at(cell.begin(), cell.end(), quoted), last; at != last; ++at)
    texts.push_back((*at)[1].str());
  return texts;
}

/// A scenario with these lines, and what it needs beside them.
std::string scenario_with(std::vector<std::string> const& lines) {
  std::string text = "adamant: 1\nname: together\nparams: [{name: w, shape: [4, 3]}]\n";
  for (auto const& [key, line] :
       {std::pair{"world:", "world: {shard: 2}"}, std::pair{"program:", "program: [train: 1]"}}) {
    bool const given = std::any_of(lines.begin(), lines.end(), [&](std::string const& given_line) {
      return given_line.rfind(key, 0) == 0;
    });
    if (!given) text += std::string(line) + "\n";
  }
  for (std::string const& line : lines) text += line + "\n";
  return text;
}

TEST(ScenariosReadme, WhatCannotBeCombinedIsRefusedForThatReason) {
  Folder const folder;
  std::ifstream stream(scenarios_readme);
  int rows = 0;
  std::regex const row("\\| .* \\| (.*) \\| `(unsupported\\..*)` \\|");
  for (std::string line; std::getline(stream, line);) {
    std::smatch parts;
    if (!std::regex_match(line, parts, row)) continue;
    ++rows;
    std::string const told =
        folder.run("cat > together.yaml <<'END'\n" + scenario_with(quoted_in(parts[1])) +
                   "END\nbuild/dev/adamant run --seed 1 together.yaml 2>&1");
    EXPECT_NE(told.find(parts[2].str()), told.npos) << line << "\n" << told;
  }
  EXPECT_GE(rows, 15);
}

}  // namespace
}  // namespace adamant::properties
