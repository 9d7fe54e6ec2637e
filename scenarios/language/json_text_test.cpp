#include "scenarios/language/json_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;

std::string nested(int depth) {
  std::string text = "1";
  for (int i = 0; i < depth; ++i) text = i % 2 == 0 ? "[" + text + "]" : R"({"a":)" + text + "}";
  return text;
}

TEST(JsonText, IsParsedUpToADepth) {
  EXPECT_EQ(parse_json<Json>(nested(64)), Json::parse(nested(64)));
  EXPECT_THROW(parse_json<Json>(nested(65)), Json::exception);
  EXPECT_TRUE(parse_json<Json>(nested(65), false).is_discarded());
  EXPECT_THROW(parse_json<Json>(std::string(1'000'000, '[')), Json::exception);
}

std::string object_of(int keys, std::string const& value) {
  std::string text = "{";
  for (int i = 0; i < keys; ++i)
    text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + ":\":" + value;
  return text + "}";
}

TEST(JsonText, WhereKeysAreLookedForOneByOneThereAreNotMany) {
  std::string const most = object_of(1000, object_of(1, "{}"));
  EXPECT_EQ(parse_json<StrictJson>(most).size(), 1000U);
  std::string const more = "[" + object_of(1001, "0") + "]";
  EXPECT_THROW(parse_json<StrictJson>(more), StrictJson::exception);
  EXPECT_TRUE(parse_json<StrictJson>(more, false).is_discarded());
  EXPECT_EQ(parse_json<Json>(more).at(0).size(), 1001U);
}

TEST(JsonText, BracketsOfTextsAndOfNeighboursDoNotCount) {
  std::string const brackets(100, '[');
  EXPECT_EQ(parse_json<Json>(R"(["\")" + brackets + R"(\\", "\\", []])").at(0),
            "\"" + brackets + "\\");
  std::string neighbours = "[0";
  for (int i = 0; i < 100; ++i) neighbours += ", [{}]";
  EXPECT_EQ(parse_json<Json>(neighbours + "]").size(), 101);
}

TEST(JsonText, AnIntegerIsWrittenAsOneAndFitsItsType) {
  EXPECT_EQ(integer_in<std::int64_t>(Json::parse("-3")), -3);
  EXPECT_EQ(integer_in<std::uint64_t>(Json::parse("18446744073709551615")),
            std::numeric_limits<std::uint64_t>::max());
  for (char const* const text : {"4.9", "4.0", "1e300", "true", "\"4\"", "18446744073709551615"})
    EXPECT_THROW(integer_in<std::int64_t>(Json::parse(text)), Json::exception) << text;
  EXPECT_THROW(integer_in<std::uint64_t>(Json::parse("-1")), Json::exception);
  EXPECT_THROW(integer_in<int>(Json::parse("2147483648")), Json::exception);
  EXPECT_EQ(integers_in<int>(Json::parse("[1, 2]")), (std::vector<int>{1, 2}));
  EXPECT_THROW(integers_in<int>(Json::parse(R"({"a": 1})")), Json::exception);
}

}  // namespace
}  // namespace adamant::scenarios
