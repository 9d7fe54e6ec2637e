// The table of what changes touch (.github/CHANGES-BY-EXAMPLE.md) is held to the tree, and to the
// two changes that are kept as diffs here. That these do what they are for is `weave`'s to see.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

fs::path const root = ADAMANT_SOURCE_DIR;
fs::path const kept = "properties/changes";

std::string text_of(fs::path const& file) {
  std::ifstream stream(root / file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// All that the expression's first group matches.
std::vector<std::string> found_in(std::string const& text, std::regex const& expression) {
  return {std::sregex_token_iterator(text.begin(), text.end(), expression, 1), {}};
}

struct Row {
  std::string what;
  std::size_t count = 0;
  std::vector<std::string> files;
};

std::vector<Row> table() {
  std::string const page = text_of(".github/CHANGES-BY-EXAMPLE.md");
  std::regex const row(R"re(\n\| ([^|]+) \| (\d+) \| ([^|]+) \|(?=\n))re");
  std::vector<Row> rows;
  for (std::sregex_iterator match(page.begin(), page.end(), row), end; match != end; ++match)
    rows.push_back({.what = (*match)[1],
                    .count = std::stoul((*match)[2]),
                    .files = found_in((*match)[3], std::regex("`([^`]+/[^`]+|[^`]+\\.md)`"))});
  return rows;
}

/// The row whose change begins so.
Row row_of(std::string const& what) {
  for (Row& row : table())
    if (row.what.starts_with(what)) return std::move(row);
  ADD_FAILURE() << "no row begins with `" << what << "`";
  return {};
}

/// Is it written by a person, and no test?
bool is_counted(std::string const& file) {
  static std::regex const others(
      R"re(_test\.|/testing/|/tests/|^scenarios/corpus/|^properties/same/|^scenarios/(engine\.)?schema\.json$|^scenarios/KEYS\.md$)re");
  return !std::regex_search(file, others);
}

std::set<std::string> counted_files_of(std::string const& diff) {
  std::set<std::string> files;
  for (std::string const& file :
       found_in(text_of(kept / diff), std::regex("\n\\+\\+\\+ b/([^\n]+)")))
    if (is_counted(file)) files.insert(file);
  return files;
}

TEST(ChangesByExample, EachCountsTheFilesThatItNames) {
  EXPECT_GE(table().size(), 10U);
  for (Row const& row : table()) {
    EXPECT_EQ(row.files.size(), row.count) << row.what;
    EXPECT_EQ(std::set<std::string>(row.files.begin(), row.files.end()).size(), row.files.size())
        << row.what << ": a file is named twice";
  }
}

TEST(ChangesByExample, NameFilesThatAreThere) {
  for (Row const& row : table())
    for (std::string const& file : row.files) {
      EXPECT_TRUE(is_counted(file)) << row.what << ": " << file << " is not to be counted";
      bool const is_new = file.find("NAME") != std::string::npos;
      std::string const there = is_new ? file.substr(0, file.rfind('/', file.find("NAME"))) : file;
      EXPECT_TRUE(fs::exists(root / there)) << row.what << ": there is no " << there;
    }
}

TEST(ChangesByExample, FormatsAreMetInEachFileOfTheirRow) {
  std::regex const formats("fp8|bf16|StateType|NumberFormat");
  for (std::string const& file : row_of("a format of moments").files) {
    bool const is_met = file.ends_with(".md") || std::regex_search(text_of(file), formats);
    EXPECT_TRUE(is_met) << file << " has nothing to do with formats";
  }
}

class KeptChange : public testing::TestWithParam<char const*> {};

TEST_P(KeptChange, TouchesTheFilesOfItsRow) {
  std::string const name = GetParam();
  Row const row = row_of("a " + name);
  EXPECT_EQ(counted_files_of(name + ".diff"),
            std::set<std::string>(row.files.begin(), row.files.end()));
}

TEST_P(KeptChange, FitsTheSources) {
  if (std::system("git --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "git is not installed";
  // Of a repository around the sources git would take the diff's paths, and skip them all.
  std::string const git = "cd '" + root.string() + "' && GIT_CEILING_DIRECTORIES='" +
                          root.parent_path().string() + "' git apply --check ";
  std::string const diff = (kept / GetParam()).string() + ".diff";
  EXPECT_EQ(std::system((git + diff).c_str()), 0) << diff << " fits no more: bring it up to date";
  EXPECT_NE(std::system((git + "--reverse " + diff + " 2> /dev/null").c_str()), 0)
      << "git has not looked: " << diff << " fits in both directions";
}

INSTANTIATE_TEST_SUITE_P(All, KeptChange, testing::Values("law", "verb"),
                         [](auto const& test) { return std::string(test.param); });

}  // namespace
}  // namespace adamant::properties
