// The code's own rules, as tests: who may include whom, what must never be called because it would
// break determinism, and how the text is formatted. A rule that is broken names file and line.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "scenarios/bugs/weaver/functions.h"

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

fs::path const root = ADAMANT_SOURCE_DIR;
std::vector<std::string> const folders = {"oracle", "sim", "real", "scenarios", "properties"};

struct Line {
  std::string file;  // from the root
  int number = 0;
  std::string text;
};

bool is_source(fs::path const& path) {
  std::string const extension = path.extension();
  return extension == ".h" || extension == ".inc" || extension == ".cpp" || extension == ".cu";
}

std::vector<fs::path> sources() {
  std::vector<fs::path> result;
  for (std::string const& folder : folders) {
    for (auto const& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file() && is_source(entry.path())) result.push_back(entry.path());
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

std::vector<Line> lines_of(fs::path const& path) {
  std::vector<Line> lines;
  std::ifstream stream(path);
  std::string text;
  for (int number = 1; std::getline(stream, text); ++number) {
    lines.push_back({fs::relative(path, root).string(), number, text});
  }
  return lines;
}

// What follows // is prose.
std::string code_of(std::string const& line) {
  return line.substr(0, line.find("//"));
}

std::string where(Line const& line) {
  return line.file + ":" + std::to_string(line.number) + ": " + line.text;
}

std::string folder_of(std::string const& file) {
  return file.substr(0, file.find('/'));
}

// What each folder may include of ours: nothing points upwards.
bool may_include(std::string const& file, std::string const& header) {
  std::string const from = folder_of(file);
  std::string const to = folder_of(header);
  if (from == to || from == "scenarios" || from == "properties")
    return to != "properties" || from == to;
  return from == "real" && header == "oracle/types.h";
}

bool of_ours(std::string const& header) {
  return std::find(folders.begin(), folders.end(), folder_of(header)) != folders.end();
}

// Third-party headers by folder; the standard library and CUDA's names have no slash and no entry.
bool may_use(std::string const& file, std::string const& header) {
  std::string const from = folder_of(file);
  auto const starts = [&](std::string_view prefix) { return header.rfind(prefix, 0) == 0; };
  if (from == "scenarios" || from == "properties") return true;
  bool const test = file.find("_test.c") != std::string::npos ||
                    file.find("/testing/") != std::string::npos ||
                    file.find("real/gpu/ranks_on_threads.cpp") == 0;
  if (test && (starts("gtest/") || starts("rapidcheck"))) return true;
  if (starts("Eigen/")) return from == "oracle";
  if (starts("boost/") || starts("fmt/")) return from == "sim";
  if (starts("nlohmann/")) return from == "real";
  return !starts("gtest/") && !starts("rapidcheck") && !starts("yaml-cpp/") && !starts("CLI/");
}

TEST(Tidy, NothingIncludesUpwards) {
  std::regex const include(R"re(^\s*#\s*include\s+["<]([^">]+)[">])re");
  for (fs::path const& path : sources()) {
    for (Line const& line : lines_of(path)) {
      std::smatch match;
      if (!std::regex_search(line.text, match, include)) continue;
      std::string const header = match[1];
      bool const ours = of_ours(header) && header.find('/') != std::string::npos;
      bool const allowed = ours ? may_include(line.file, header) : may_use(line.file, header);
      EXPECT_TRUE(allowed) << where(line);
    }
  }
}

// The rooms of scenarios/, from the bottom: each may include itself and what stands before it.
std::vector<std::string> rooms_in_order() {
  std::ifstream stream(root / "scenarios/CMakeLists.txt");
  std::string const text(std::istreambuf_iterator<char>(stream), {});
  std::smatch list;
  EXPECT_TRUE(std::regex_search(text, list, std::regex(R"re(set\(rooms([^)]*)\))re")));
  std::istringstream words(list[1]);
  return {std::istream_iterator<std::string>(words), {}};
}
std::vector<std::string> const rooms = rooms_in_order();

// The longest name that is a beginning of the path.
int room_of(std::string const& file) {
  int found = -1;
  std::size_t length = 0;
  for (std::size_t i = 0; i < rooms.size(); ++i) {
    std::string const prefix = "scenarios/" + rooms[i] + "/";
    if (file.rfind(prefix, 0) != 0 || prefix.size() <= length) continue;
    found = static_cast<int>(i);
    length = prefix.size();
  }
  return found;
}

bool is_test(std::string const& file) {
  return file.find("_test.") != std::string::npos || file.find("/testing/") != std::string::npos;
}

TEST(Tidy, NoRoomOfScenariosIncludesARoomAboveIt) {
  std::regex const include(R"re(^\s*#\s*include\s+"(scenarios/[^"]+)")re");
  for (fs::path const& path : sources()) {
    for (Line const& line : lines_of(path)) {
      std::smatch match;
      if (is_test(line.file) || folder_of(line.file) != "scenarios") continue;
      if (!std::regex_search(line.text, match, include)) continue;
      int const from = room_of(line.file);
      int const to = room_of(match[1]);
      EXPECT_GE(from, 0) << line.file << ": a room that the order of rooms does not know";
      EXPECT_GE(from, to) << where(line);
    }
  }
}

// Whatever would make two runs of one seed differ, with what to use instead.
struct Ban {
  char const* pattern;
  char const* instead;
};

TEST(Tidy, NothingUndeterminedIsCalled) {
  std::vector<std::pair<std::regex, char const*>> bans;
  for (Ban const& ban : {
           Ban{R"(\b(std::)?s?rand\s*\()", "Prng, from the seed"},
           Ban{R"(\bstd::(random_device|mt19937|default_random_engine))", "Prng, from the seed"},
           Ban{R"(\bstd::shuffle|\bstd::\w+_distribution)",
               "Prng: results differ between libraries"},
           Ban{R"(\b(gettimeofday|std::time)\s*\()", "simulated time"},
           Ban{R"(-ffast-math|__fast|use_fast_math)", "exact arithmetic"},
       }) {
    bans.emplace_back(ban.pattern, ban.instead);
  }
  for (fs::path const& path : sources()) {
    if (path.filename() == "tidy_test.cpp") continue;
    for (Line const& line : lines_of(path)) {
      std::string const code = code_of(line.text);
      for (auto const& [pattern, instead] : bans) {
        EXPECT_FALSE(std::regex_search(code, pattern)) << where(line) << "\n  use " << instead;
      }
    }
  }
}

// Whoever reads "skipped" wants to know what to install.
TEST(Tidy, EveryTestThatIsSkippedSaysWhy) {
  std::regex const bare(R"(\bGTEST_SKIP\(\);|\bpytest\.skip\(\)|\bimportorskip\([^,]*\)$)");
  std::vector<fs::path> all = sources();
  for (auto const& entry : fs::recursive_directory_iterator(root / "scenarios"))
    if (entry.path().extension() == ".py") all.push_back(entry.path());
  for (fs::path const& path : all)
    for (Line const& line : lines_of(path))
      EXPECT_FALSE(std::regex_search(line.text, bare)) << where(line);
}

// Time is measured where people read it, and nowhere else.
TEST(Tidy, OnlyReportsAndBenchmarksReadAClock) {
  std::regex const clock(R"(\bstd::chrono::\w*_clock|\bclock_gettime\s*\()");
  for (fs::path const& path : sources()) {
    std::string const file = fs::relative(path, root).string();
    if (file.rfind("scenarios/", 0) == 0 || file.find("_bench") != std::string::npos) continue;
    if (path.filename() == "tidy_test.cpp") continue;
    for (Line const& line : lines_of(path)) {
      EXPECT_FALSE(std::regex_search(code_of(line.text), clock)) << where(line);
    }
  }
}

TEST(Tidy, TheEngineUsesNeitherDefaultStreamNorChevrons) {
  std::regex const forbidden(
      R"(<<<|cudaStreamLegacy|cudaStreamPerThread|\bcudaMemcpy\(|\bcudaMemset\()");
  for (fs::path const& path : sources()) {
    std::string const file = fs::relative(path, root).string();
    bool const engine = file.rfind("real/", 0) == 0 && file.find("_test") == std::string::npos &&
                        file.find("real/gpu/") != 0 && file.find("/testing/") == std::string::npos;
    if (!engine) continue;
    for (Line const& line : lines_of(path)) {
      EXPECT_FALSE(std::regex_search(code_of(line.text), forbidden)) << where(line);
    }
  }
}

// What others include: a header, or a list (.inc), which may be included several times.
bool is_included(fs::path const& path) {
  return path.extension() == ".h" || path.extension() == ".inc";
}

TEST(Tidy, EveryHeaderOpensWithASentenceAndIsIncludedOnce) {
  for (fs::path const& path : sources()) {
    if (!is_included(path)) continue;
    std::vector<Line> const lines = lines_of(path);
    ASSERT_FALSE(lines.empty()) << path;
    EXPECT_EQ(lines.front().text.substr(0, 3), "// ") << where(lines.front());
    if (path.extension() == ".inc") continue;
    bool const once = std::any_of(lines.begin(), lines.end(),
                                  [](Line const& line) { return line.text == "#pragma once"; });
    EXPECT_TRUE(once) << path << ": no #pragma once";
  }
}

// A header that its own source includes first is seen to compile alone. headers.cmake compiles the
// others.
TEST(Tidy, EverySourceIncludesItsOwnHeaderFirst) {
  std::regex const include(R"re(^\s*#\s*include\s+"([^"]+)")re");
  for (fs::path const& path : sources()) {
    fs::path header = path;
    header.replace_extension(".h");
    if (is_included(path) || !fs::exists(header)) continue;
    std::vector<Line> const lines = lines_of(path);
    auto const first = std::find_if(lines.begin(), lines.end(), [](Line const& line) {
      return line.text.rfind("#include", 0) == 0;
    });
    ASSERT_NE(first, lines.end()) << path;
    EXPECT_EQ(first->text, "#include \"" + fs::relative(header, root).string() + "\"")
        << where(*first);
  }
}

// Functions that one can hold in the head. The list is of those that are longer, with their lines:
// it may only get shorter, and its numbers smaller.
// Two types of one name in one namespace are undefined, and no linker tells: whichever's inline
// functions come first are those of both.
TEST(Tidy, ANameIsThatOfOneType) {
  std::regex const opens(R"(^\s*(?:inline )?namespace ([\w:]*) ?\{$)");
  std::regex const closes(R"(^\s*\}  // namespace)");
  std::regex const defines(
      R"(^\s*(?:class|struct|enum class) (\w+)(?: final)? ?(?:\{.*|:[^:].*)?$)");
  std::map<std::string, std::string> files;
  for (fs::path const& path : sources()) {
    std::vector<std::string> scopes;
    for (Line const& line : lines_of(path)) {
      std::smatch match;
      if (std::regex_match(line.text, match, opens)) {
        // A namespace without a name is of its file.
        bool const own = match[1].str().empty();
        scopes.push_back(own ? line.file : match[1].str());
      } else if (std::regex_search(line.text, closes) && !scopes.empty()) {
        scopes.pop_back();
      } else if (line.text.find("  ") != 0 && std::regex_match(line.text, match, defines)) {
        std::string name;
        for (std::string const& scope : scopes) name += scope + "::";
        auto const [known, added] = files.emplace(name + match[1].str(), line.file);
        EXPECT_TRUE(added || known->second == line.file)
            << known->first << " is in " << line.file << " and in " << known->second;
      }
    }
  }
}

// Those that other presets compile alone stand aside.
bool is_of_every_preset(std::string const& file) {
  return file.ends_with(".cpp") && !file.ends_with("_bench.cpp") &&
         !file.starts_with("properties/fuzz/") && file.find("/cuda/") == std::string::npos &&
         file.find("/gpu/") == std::string::npos;
}

TEST(Tidy, EditorsFindACompileCommandForEverySource) {
  std::string const path = ADAMANT_SOURCE_DIR "/build/compile_commands.json";
  if (!fs::exists(path)) GTEST_SKIP() << "built outside of the tree: there is no " << path;
  std::set<std::string> known;
  for (auto const& command : nlohmann::json::parse(std::ifstream(path)))
    known.insert(command.at("file").get<std::string>());
  for (fs::path const& source : sources()) {
    std::string const file = fs::relative(source, root);
    if (is_of_every_preset(file)) {
      EXPECT_TRUE(known.contains(source)) << file;
    }
  }
}

TEST(Tidy, FunctionsAreShort) {
  constexpr int most = 40;
  for (fs::path const& path : sources()) {
    std::string const file = fs::relative(path, root).string();
    if (is_test(file)) continue;
    std::ifstream stream(path);
    std::string const text(std::istreambuf_iterator<char>(stream), {});
    for (bugs::Function const& function : bugs::find_functions(text)) {
      int const lines = function.close_line - function.first_line + 1;
      EXPECT_LE(lines, most) << file << ":" << function.first_line << ": " << function.name
                             << " has too many lines: divide it";
    }
  }
}

TEST(Tidy, TextIsFormatted) {
  std::string const tool = "clang-format-14";
  if (std::system((tool + " --version > /dev/null 2>&1").c_str()) != 0) {
    GTEST_SKIP() << tool << " is not installed; .ci/setup installs it";
  }
  std::string files;
  for (fs::path const& path : sources()) files += " '" + path.string() + "'";
  EXPECT_EQ(std::system((tool + " --dry-run -Werror" + files).c_str()), 0)
      << "format with: " << tool << " -i <file>";
}

}  // namespace
}  // namespace adamant::properties
