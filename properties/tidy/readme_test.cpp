// What the documents show is what happens: a line that begins with "$ " is a command, and what it
// prints follows, where an ellipsis stands for anything. Commands of one document run one after the
// other in one folder, in which the project's own folders seem to lie. Those that need an engine in
// Python run where ADAMANT_PYTHON or python3 has it, and are skipped elsewhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "scenarios/runner/testing/python.h"

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;
using scenarios::python_program;

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

bool is_example(std::string const& line) {
  return line.rfind("$ ", 0) == 0;
}

std::vector<Example> examples_of(std::string const& path) {
  std::vector<Example> examples;
  for (Block const& block : blocks_of(path)) {
    bool shows_command = false;
    for (std::string const& line : block.lines) {
      if (is_example(line)) {
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

/// Whether `text` is what a document shows. Its ellipses stand for anything, lines as well.
bool is_as_shown(std::string_view text, std::string_view shown) {
  constexpr std::string_view ellipsis = "…";
  bool is_first = true;
  for (auto at = shown.find(ellipsis); at != shown.npos; at = shown.find(ellipsis)) {
    auto const found = text.find(shown.substr(0, at));
    if (found == text.npos || (is_first && found != 0)) return false;
    text.remove_prefix(found + at);
    shown.remove_prefix(at + ellipsis.size());
    is_first = false;
  }
  return is_first ? text == shown : text.ends_with(shown);
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
    fs::create_directory(path_ / "bin");
    add_python();
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(Folder const&) = delete;
  Folder& operator=(Folder const&) = delete;

  std::string run(std::string const& command) const {
    return output_of("cd '" + path_.string() + "' && " + environment() + command + " 2>/dev/null");
  }

 private:
  /// python3 is the one that has the engines: by its own path, as it is the first that is found.
  void add_python() const {
    std::string const program =
        output_of(python_program() + " -c 'import sys; print(sys.executable, end=\"\")'");
    std::ofstream(path_ / "bin" / "python3") << "#!/bin/sh\nexec " << program << " \"$@\"\n";
    fs::permissions(path_ / "bin" / "python3", fs::perms::owner_all);
  }

  /// The program is `adamant`.
  static std::string environment() {
    return "export HOME=\"$PWD\" PATH=\"$PWD/bin:$PWD/build/dev:$PATH\" "
           "PYTHONPATH=\"$PWD/scenarios/peers/torch\" "
           "ADAMANT_TORCH='exec python3 -m adamant_torch' && ";
  }

  fs::path path_;
};

/// What a machine need not have, and a command may need.
enum class Needs { nothing, numpy, torch };

Needs needs_of(std::string const& command) {
  for (char const* const word : {"--engine torch", "adamant_torch/known", "python3 defect.py",
                                 "driven.py", "sharded_adam.py", "python3 -m adamant_torch"})
    if (command.find(word) != command.npos) return Needs::torch;
  for (char const* const word : {"scenarios/peers/numpy", "python3 session.py"})
    if (command.find(word) != command.npos) return Needs::numpy;
  return Needs::nothing;
}

bool has(Needs needs) {
  switch (needs) {
    case Needs::nothing:
      return true;
    case Needs::numpy:
      return scenarios::has_numpy();
    case Needs::torch:
      return scenarios::python_runs("import torch.distributed.fsdp as f; f.fully_shard");
  }
  return false;
}

/// A command that somebody else executes; by whom stands here.
bool is_executed_elsewhere(std::string const& line) {
  for (char const* const known : {
           ".ci/setup",                                         // .ci/run begins with it
           "cmake --build build/dev --target adamant_mutants",  // scenarios.mutants.hunt
           "build/dev/adamant hunt --mutants",                  // likewise
           "cmake --workflow",                                  // .ci/run
           "cmake --preset debug",                              // a job of the workflow
           "cd scenarios/peers/",                               // .ci/run: the tests of an adapter
           "pytest ",                                           // tests/test_pytest_plugin.py
           "pip install",                        // .ci/setup --peers, by the same names
           "python3 -m adamant_torch --engine",  // tests/test_pytest_plugin.py, which names classes
           "python3 scenarios/",                 // tests beside the script
       })
    if (line.rfind(known, 0) == 0) return true;
  return false;
}

/// A document, and those of its commands that need as much.
struct Document {
  char const* path;
  char const* name;
  Needs needs = Needs::nothing;
};

void PrintTo(Document const& document, std::ostream* out) {
  *out << document.path;
}

class Readme : public testing::TestWithParam<Document> {
 protected:
  static std::string path() { return std::string(ADAMANT_SOURCE_DIR "/") + GetParam().path; }
};

TEST_P(Readme, CommandsPrintWhatItShows) {
#ifdef ADAMANT_SIM_UNCHECKED_ONLY
  GTEST_SKIP() << "the examples show checked runs, and this build's sanitizers exclude those";
#endif
  if (!has(GetParam().needs))
    GTEST_SKIP() << python_program()
                 << " lacks what the engine needs (ADAMANT_PYTHON names another)";
  Folder const folder;
  int executed = 0;
  for (Example const& example : examples_of(path())) {
    if (is_executed_elsewhere(example.command) || needs_of(example.command) != GetParam().needs)
      continue;
    ++executed;
    std::string const printed = steady(folder.run(example.command));
    std::string const shown = steady(example.output);
    if (is_as_shown(printed, shown)) continue;
    ADD_FAILURE() << example.command << "\nprints\n" << printed << "and not\n" << shown;
  }
  EXPECT_TRUE(executed > 0 || GetParam().needs == Needs::nothing) << "shows no such command";
}

TEST_P(Readme, ShowsNoCommandThatNobodyExecutes) {
  static std::regex const command(
      "(build/dev/|adamant [a-z]|python|cmake|\\.ci/|cd |ctest|source |mpirun|sbatch|pip "
      "|pytest).*");
  for (Block const& block : blocks_of(path())) {
    bool const is_executed = std::any_of(block.lines.begin(), block.lines.end(), is_example);
    if (!block.language.empty() || is_executed) continue;
    for (std::string const& line : block.lines)
      EXPECT_TRUE(!std::regex_match(line, command) || is_executed_elsewhere(line)) << line;
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

INSTANTIATE_TEST_SUITE_P(
    , Readme,
    testing::Values(Document{"README.md", "OfTheProject"},
                    Document{".github/CONTRIBUTING.md", "OfContributing"},
                    Document{"sim/README.md", "OfTheSimulator"},
                    Document{"scenarios/bugs/README.md", "OfBugs"},
                    Document{"scenarios/ci/README.md", "OfCi"},
                    Document{"scenarios/peers/README.md", "OfPeersWithPyTorch", Needs::torch},
                    Document{"scenarios/LANGUAGE.md", "OfTheLanguage"},
                    Document{"scenarios/LANGUAGE.md", "OfTheLanguageWithNumPy", Needs::numpy},
                    Document{"scenarios/REPORTS.md", "OfReports"},
                    Document{"scenarios/ENGINES.md", "OfEnginesWithNumPy", Needs::numpy},
                    Document{"scenarios/ENGINES.md", "OfEnginesWithPyTorch", Needs::torch},
                    Document{"scenarios/peers/doctor/README.md", "OfTheDoctor", Needs::numpy},
                    Document{"scenarios/peers/numpy/README.md", "OfTheNumPyEngine", Needs::numpy},
                    Document{"scenarios/peers/torch/README.md", "OfThePyTorchEngine",
                             Needs::torch}),
    [](auto const& document) { return std::string(document.param.name); });

// ---- what scenarios/LANGUAGE.md promises beside
// -----------------------------------------------------

constexpr char const* language_page = ADAMANT_SOURCE_DIR "/scenarios/LANGUAGE.md";

void add_keys(nlohmann::json const& schema, std::set<std::string>& keys) {
  if (schema.is_object() && schema.contains("properties") && schema["properties"].is_object())
    for (auto const& property : schema["properties"].items()) keys.insert(property.key());
  if (!schema.is_structured()) return;
  for (nlohmann::json const& part : schema) add_keys(part, keys);
}

TEST(LanguagePage, ShowsEveryKeyByExample) {
  std::ifstream stream(ADAMANT_SOURCE_DIR "/scenarios/schema.json");
  std::set<std::string> keys;
  add_keys(nlohmann::json::parse(stream), keys);
  EXPECT_GT(keys.size(), 60U);
  std::set<std::string> shown = {"model", "bug", "file", "byte"};  // in its text and tables
  std::regex const word("[a-z_]+");
  for (Block const& block : blocks_of(language_page)) {
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
  for (std::string const needed : {"world: {shard: 2}", "program: [train: 1]"}) {
    std::string const key = needed.substr(0, needed.find(' '));
    bool const given = std::any_of(lines.begin(), lines.end(),
                                   [&](std::string const& line) { return line.starts_with(key); });
    if (!given) text += needed + "\n";
  }
  for (std::string const& line : lines) text += line + "\n";
  return text;
}

TEST(LanguagePage, WhatCannotBeCombinedIsRefusedForThatReason) {
  Folder const folder;
  std::ifstream stream(language_page);
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
