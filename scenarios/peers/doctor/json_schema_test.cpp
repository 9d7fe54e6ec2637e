#include "scenarios/peers/doctor/json_schema.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace adamant::scenarios {
namespace {

using Json = nlohmann::json;

JsonSchema schema_of(std::string const& node) {
  Json schema;
  schema["$defs"]["it"] = Json::parse(node);
  schema["$defs"]["word"]["enum"] = {"a", "b"};
  return JsonSchema(std::move(schema));
}

/// "where: expected, found", one a line.
std::string said(std::string const& node, std::string const& value) {
  std::string text;
  for (Mismatch const& one : schema_of(node).mismatches(Json::parse(value), "it"))
    text += one.where + ": " + one.expected + ", " + one.found + "\n";
  return text;
}

TEST(JsonSchema, SaysNothingOfWhatFits) {
  constexpr char const* node = R"({"type": "object", "required": ["n"], "properties": {
    "n": {"type": "integer", "minimum": 0}, "w": {"$ref": "#/$defs/word"}}})";
  EXPECT_EQ(said(node, R"({"n": 0, "w": "b", "more": 1})"), "");
}

TEST(JsonSchema, SaysEachPlaceThatDiffers) {
  constexpr char const* node = R"({"type": "object", "additionalProperties": false,
    "required": ["n", "list"], "properties": {
      "n": {"type": "integer"},
      "list": {"type": "array", "items": {"$ref": "#/$defs/word"}}}})";
  EXPECT_EQ(said(node, R"({"list": ["a", "c"], "m": 1})"),
            ": the field `n`, {\"list\":[\"a\",\"c\"],\"m\":1}\n"
            "list[1]: one of a, b, \"c\"\n"
            "m: no such field, 1\n");
}

TEST(JsonSchema, TypesAreToldApart) {
  EXPECT_EQ(said(R"({"type": "integer"})", "1.5"), ": a value of type integer, 1.5\n");
  EXPECT_EQ(said(R"({"type": "number"})", "1"), "");
  EXPECT_EQ(said(R"({"type": "boolean"})", "0"), ": a value of type boolean, 0\n");
  EXPECT_EQ(said(R"({"type": "string"})", "null"), ": a value of type string, null\n");
  EXPECT_EQ(said(R"({"type": "null"})", "null"), "");
  EXPECT_EQ(said(R"({"type": "object"})", "[]"), ": a value of type object, []\n");
}

TEST(JsonSchema, LimitsAreThoseOfTheSchema) {
  EXPECT_EQ(said(R"({"minimum": 1})", "0"), ": at least 1, 0\n");
  EXPECT_EQ(said(R"({"exclusiveMinimum": 0})", "0"), ": more than 0, 0\n");
  EXPECT_EQ(said(R"({"exclusiveMaximum": 1})", "1.0"), ": less than 1, 1.0\n");
  EXPECT_EQ(said(R"({"minItems": 1})", "[]"), ": at least 1 entries, []\n");
  EXPECT_EQ(said(R"({"maxItems": 1})", "[1, 2]"), ": at most 1 entries, [1,2]\n");
  EXPECT_EQ(said(R"({"pattern": "^/"})", "\"a/b\""), ": an absolute path, \"a/b\"\n");
  EXPECT_EQ(said(R"({"const": 1})", "2"), ": 1, 2\n");
}

TEST(JsonSchema, OtherMembersMayHaveASchemaOfTheirOwn) {
  constexpr char const* node = R"({"additionalProperties": {"type": "string"}})";
  EXPECT_EQ(said(node, R"({"a": "x", "b": 1})"), "b: a value of type string, 1\n");
}

// Both alternatives miss a field; the words say which one is meant.
TEST(JsonSchema, OfAlternativesTheOneWhoseWordsFitIsMeant) {
  constexpr char const* node = R"({"oneOf": [
    {"required": ["x", "y"], "properties": {"kind": {"const": "point"}}},
    {"required": ["r"], "properties": {"kind": {"const": "circle"}}}]})";
  EXPECT_EQ(said(node, R"({"kind": "point", "x": 1})"),
            ": the field `y`, {\"kind\":\"point\",\"x\":1}\n");
  EXPECT_EQ(said(node, R"({"kind": "circle"})"), ": the field `r`, {\"kind\":\"circle\"}\n");
  EXPECT_EQ(said(node, R"({"kind": "circle", "r": 1})"), "");
}

TEST(JsonSchema, OneOfIsExactlyOne) {
  EXPECT_EQ(said(R"({"oneOf": [{"type": "number"}, {"type": "integer"}]})", "1"),
            ": only one of 2 kinds, 1\n");
  EXPECT_EQ(said(R"({"anyOf": [{"type": "number"}, {"type": "integer"}]})", "1"), "");
}

TEST(JsonSchema, AKeywordThatNobodyChecksIsAnError) {
  EXPECT_THROW(schema_of(R"({"uniqueItems": true})"), std::invalid_argument);
  EXPECT_THROW(schema_of(R"({"items": {"maxLength": 3}})"), std::invalid_argument);
  EXPECT_THROW(schema_of(R"({"pattern": "a"})"), std::invalid_argument);
  EXPECT_THROW(schema_of(R"({"oneOf": [{"not": {}}]})"), std::invalid_argument);
  EXPECT_THROW(schema_of(R"({"$ref": "#/$defs/nothing"})"), std::out_of_range);
}

TEST(JsonSchema, BytesThatAreNoTextAreShownAllTheSame) {
  EXPECT_FALSE(schema_of(R"({"const": 1})").mismatches(Json("\xff"), "it").empty());
}

}  // namespace
}  // namespace adamant::scenarios
