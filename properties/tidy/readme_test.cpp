// The README's examples, run: a block that begins with "$ " holds a command and what it prints.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace adamant::properties {
namespace {

struct Example {
  std::string command;
  std::string output;
};

std::vector<Example> examples_of(std::string const& path) {
  std::vector<Example> examples;
  std::ifstream stream(path);
  bool inside = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind("```", 0) == 0) {
      inside = false;
    } else if (line.rfind("$ ", 0) == 0) {
      inside = true;
      examples.push_back({line.substr(2), ""});
    } else if (inside) {
      examples.back().output += line + "\n";
    }
  }
  return examples;
}

std::string replaced(std::string text, std::string const& what, std::string const& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
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

TEST(Readme, CommandsPrintWhatItShows) {
#ifdef ADAMANT_UNCHECKED_ONLY
  GTEST_SKIP() << "the examples show checked runs, and this build's sanitizers exclude those";
#endif
  std::string const documented = "build/dev/";
  std::string const built = ADAMANT_BINARY_DIR "/";
  auto const examples = examples_of(ADAMANT_SOURCE_DIR "/README.md");
  ASSERT_GE(examples.size(), 3U);
  for (Example const& example : examples) {
    std::string const command = "cd '" ADAMANT_SOURCE_DIR "' && " +
                                replaced(example.command, documented, built) + " 2>/dev/null";
    EXPECT_EQ(replaced(output_of(command), built, documented), example.output) << example.command;
  }
}

}  // namespace
}  // namespace adamant::properties
