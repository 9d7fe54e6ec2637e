// What no scenario looks like: random bytes, damaged scenarios, and files made to exhaust a parser.
// Each must end in a scenario or in a LoadError, with bounded work.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/language/yaml/file.h"
#include "scenarios/language/yaml/load.h"
#include "scenarios/language/yaml/problem.h"
#include "scenarios/language/yaml/tree.h"
#include "scenarios/language/yaml/write.h"

namespace adamant::scenarios {
namespace {

/// Splitmix64: a fixed stream, so that a failure is the same failure tomorrow.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }
  std::uint64_t state_;
};

enum class Outcome { loaded, refused };

/// Loads `text`; anything but a scenario or a well-formed LoadError fails the test or crashes.
Outcome load(std::string const& text) {
  try {
    Scenario const scenario = load_scenario_text(text, "f");
    EXPECT_EQ(load_scenario_text(write_scenario(scenario), "written"), scenario) << text;
    return Outcome::loaded;
  } catch (LoadError const& error) {
    EXPECT_TRUE(std::string_view(error.what()).starts_with("f:")) << error.what();
    return Outcome::refused;
  }
}

std::string random_bytes(Random& random) {
  std::string text(random.below(60), '\0');
  for (char& c : text) c = static_cast<char>(random.below(256));
  return text;
}

/// Random sequences of what YAML is made of come much further into the parser than random bytes.
std::string random_markup(Random& random) {
  static constexpr std::string_view pieces[] = {
      "adamant: 1", "name", ": ",    "\n",    "\n  ",       "- ", "{",      "}",   "[",    "]",
      ",",          "&a ",  "*a",    "!t ",   "!!int ",     "'",  "\"",     "|\n", ">-\n", "#",
      "? ",         "1e-3", "...\n", "---\n", "%TAG ! x\n", "\t", "params", "~",   "\\x",  "\r"};
  std::string text;
  for (std::size_t i = random.below(24); i > 0; --i)
    text += pieces[random.below(std::size(pieces))];
  return text;
}

std::string mutated(Random& random, std::string text) {
  for (std::size_t edits = 1 + random.below(4); edits > 0 && !text.empty(); --edits) {
    auto const at = random.below(text.size());
    auto const size = random.below(12);
    auto const from = random.below(text.size());
    switch (random.below(5)) {
      case 0:
        text[at] = static_cast<char>(random.below(128));
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, std::string(text, from, size));
        break;
      case 3:
        text.replace(at, size, std::string(text, from, random.below(12)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

std::vector<std::string> corpus_texts() {
  std::vector<std::string> texts;
  for (auto const& path : find_scenarios("scenarios/corpus")) texts.push_back(read_file(path));
  return texts;
}

TEST(HostileInput, RandomBytesAndMarkupNeverLoad) {
  Random random(1);
  for (int i = 0; i < 30'000; ++i) {
    EXPECT_EQ(load(random_bytes(random)), Outcome::refused);
    EXPECT_EQ(load(random_markup(random)), Outcome::refused);
  }
}

TEST(HostileInput, MutatedScenariosLoadOrSayWhyNot) {
  Random random(2);
  auto const texts = corpus_texts();
  int loaded = 0;
  int refused = 0;
  for (int i = 0; i < 40'000; ++i) {
    auto const& text = texts[random.below(texts.size())];
    (load(mutated(random, text)) == Outcome::loaded ? loaded : refused) += 1;
  }
  EXPECT_GT(loaded, 1'000);  // mutations in comments and numbers: both outcomes must be exercised
  EXPECT_GT(refused, 20'000);
}

std::string repeated(std::string_view piece, std::size_t size) {
  std::string text;
  text.reserve(size + piece.size());
  while (text.size() < size) text += piece;
  text.resize(size);
  return text;
}

std::string tree_problem(std::string const& text) {
  try {
    parse_tree(text);
  } catch (BadInput const& bad) {
    return bad.problem.message;
  }
  return "no error";
}

TEST(HostileInput, EightMebibytesOfMarkupAreTooManyNodes) {
  for (auto const* piece : {"0,", "[", "{", "a: 0,", "? ", ",", "\"\",", "!t ,", "[a: ", "&a 0,"}) {
    EXPECT_EQ(tree_problem(std::string("[") + repeated(piece, size_max - 1)),
              "too many nodes: a scenario has at most 200,000")
        << piece;
  }
}

TEST(HostileInput, BlockCollectionsAreBoundedAsTheyAreRead) {
  EXPECT_EQ(tree_problem(repeated("- 0\n", size_max)),
            "too many nodes: a scenario has at most 200,000");
  EXPECT_EQ(tree_problem(repeated("- ", 1U << 16U)), "nested deeper than 64 levels");
}

TEST(HostileInput, ALongTextIsOneNode) {
  auto const tree = parse_tree(std::string("a: ") + repeated("word\n  ", size_max - 3));
  EXPECT_EQ(tree.nodes.size(), 3U);
}

TEST(HostileInput, OneByteTooManyIsTooMany) {
  EXPECT_EQ(tree_problem(std::string("a: ") + std::string(size_max - 3, 'b')), "no error");
  EXPECT_EQ(tree_problem(std::string("a: ") + std::string(size_max - 2, 'b')),
            "the file has more than 8 MiB; a scenario has at most that");
}

std::string nested(std::string_view open, std::string_view close, int depth) {
  return repeated(open, open.size() * static_cast<std::size_t>(depth)) +
         repeated(close, close.size() * static_cast<std::size_t>(depth));
}

TEST(HostileInput, SixtyFourLevelsAreLegalAndSixtyFiveAreNot) {
  EXPECT_EQ(tree_problem(nested("[", "]", depth_max)), "no error");
  EXPECT_EQ(tree_problem(nested("[", "]", depth_max + 1)), "nested deeper than 64 levels");
  EXPECT_EQ(tree_problem(nested("{a: ", "}", depth_max + 1)), "nested deeper than 64 levels");
  EXPECT_NE(tree_problem(nested("[", "", 100'000)), "no error");
}

TEST(HostileInput, LevelsCountThroughAliases) {
  std::string const deep = std::string("a: &a ") + nested("[", "]", 40) + "\n";
  EXPECT_EQ(tree_problem(deep + "b: " + "[[*a]]"), "no error");
  EXPECT_EQ(tree_problem(deep + "b: " + repeated("[", 30) + "*a" + repeated("]", 30)),
            "nested deeper than 64 levels");
}

TEST(HostileInput, AnAliasCountsAsAllThatItStandsFor) {
  std::string bomb = "a0: &a0 [x]\n";
  for (int i = 1; i <= 40; ++i) {
    auto const last = std::to_string(i - 1);
    bomb += std::string("a") + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" + last +
            ", *a" + last + "]\n";
  }
  EXPECT_EQ(tree_problem(bomb), "too many nodes: a scenario has at most 200,000");
}

TEST(HostileInput, CyclicAliasesEnd) {
  EXPECT_NE(tree_problem("a: &a [*a]").find("cyclic"), std::string::npos);
  EXPECT_NE(tree_problem("&a {b: {c: [1, *a]}}").find("cyclic"), std::string::npos);
}

TEST(HostileInput, TwoHundredThousandNodesAreLegal) {
  EXPECT_EQ(tree_problem(std::string("[") + repeated("0,", 2 * (nodes_max - 1)) + "]"), "no error");
  EXPECT_EQ(tree_problem(std::string("[") + repeated("0,", 2 * nodes_max) + "]"),
            "too many nodes: a scenario has at most 200,000");
}

}  // namespace
}  // namespace adamant::scenarios
