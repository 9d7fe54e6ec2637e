// Law:        the corpus comes to the same with every compiler and at every optimisation.
// Sense:      programs that were built differently have the same outcome, digest and digest of
//             values of each scenario. ADAMANT_BUILDS names the folders that they were built in,
//             two or more, with colons between them.
// Not said:   that these digests are right, nor what they were before: runs_test.cpp holds one
//             program to a table, of more than digests.
// Must catch: a product and a sum that a compiler joins, sums that it reorders, and what comes from
//             addresses or from a value that nobody has set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> builds() {
  char const* const named = std::getenv("ADAMANT_BUILDS");
  std::istringstream in(named == nullptr ? "" : named);
  std::vector<fs::path> folders;
  for (std::string folder; std::getline(in, folder, ':');) folders.emplace_back(folder);
  return folders;
}

using Ends = std::map<std::string, std::string>;  // by the scenario's file

Ends ends_of_corpus(fs::path const& build) {
  fs::path const program = build / "adamant";
  EXPECT_TRUE(fs::exists(program)) << program << " is not there: build it";
  fs::path const written = fs::path(testing::TempDir()) / "adamant_compilers.json";
  std::string const command = program.string() +
                              " run scenarios/corpus --seed 1 --timeout 900 --quiet --json " +
                              written.string() + " >/dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  Ends ends;
  auto const json = nlohmann::json::parse(std::ifstream(written));
  for (auto const& result : json.at("results"))
    if (result.at("engine").get<std::string>().starts_with("sim"))
      ends[result.at("file")] = result.at("outcome").dump() + " " + result.at("digest").dump() +
                                " " + result.at("values_digest").dump();
  fs::remove(written);
  return ends;
}

TEST(Compilers, ComeToTheSameEnds) {
  std::vector<fs::path> const folders = builds();
  if (folders.size() < 2)
    GTEST_SKIP() << "ADAMANT_BUILDS names no two folders, as build/dev:build/clang";
  Ends const first = ends_of_corpus(folders.front());
  EXPECT_GT(first.size(), 500U);
  for (std::size_t i = 1; i < folders.size(); ++i) {
    Ends const other = ends_of_corpus(folders[i]);
    EXPECT_EQ(first.size(), other.size()) << folders[i];
    for (auto const& [file, end] : other)
      EXPECT_EQ(end, first.contains(file) ? first.at(file) : "")
          << file << " as built in " << folders[i] << " and in " << folders.front();
  }
}

}  // namespace
}  // namespace adamant::properties
