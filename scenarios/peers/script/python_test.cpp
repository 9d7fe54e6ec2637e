#include "scenarios/peers/script/python.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "scenarios/peers/script/imports.h"

namespace adamant::scenarios::python {
namespace {

Literal numbers(int count) {
  std::vector<Literal> items;
  for (int i = 0; i < count; ++i) items.push_back(atom("0.123456"));
  return list(std::move(items));
}

TEST(Python, ALiteralThatFitsStandsOnOneLine) {
  Code code;
  code.assign("X",
              dictionary({keyed("a", list({atom("1.0"), atom("2.0")})), keyed("b", list({}))}));
  EXPECT_EQ(code.text(), "X = {\"a\": [1.0, 2.0], \"b\": []}\n");
}

TEST(Python, ALiteralThatDoesNotFitHasOneItemALine) {
  Code code;
  code.assign("X", list({numbers(9), numbers(2)}));
  EXPECT_EQ(code.text(),
            "X = [\n"
            "    [0.123456, 0.123456, 0.123456, 0.123456, 0.123456, 0.123456, 0.123456, 0.123456, "
            "0.123456],\n"
            "    [0.123456, 0.123456],\n"
            "]\n");
}

TEST(Python, ManyNumbersArePackedWithoutTheFormatter) {
  Code code;
  code.assign_packed("X", numbers(24));
  EXPECT_EQ(line_count(code.text()), 3U);
  EXPECT_NE(code.text().find("\n 0.123456"), std::string::npos);
  EXPECT_TRUE(code.text().ends_with("]  # fmt: skip\n")) << code.text();
  Code few;
  few.assign_packed("X", numbers(2));
  EXPECT_EQ(few.text(), "X = [0.123456, 0.123456]\n");
}

TEST(Python, ACallBreaksFirstAroundItsArgumentsAndThenBetweenThem) {
  std::string const word(40, 'w');
  Code one;
  one.call("f", {word, word}, ".g()");
  EXPECT_EQ(one.text(), "f(" + word + ", " + word + ").g()\n");
  Code two;
  two.call("function_name", {word, word, "a"}, "");
  EXPECT_EQ(two.text(), "function_name(" + word + ", " + word + ", a)\n");
  Code three;
  three.call("a_longer_function_name", {word, word}, "");
  EXPECT_EQ(three.text(), "a_longer_function_name(\n    " + word + ", " + word + "\n)\n");
  Code four;
  four.call("f", {word, word, word}, "");
  EXPECT_EQ(four.text(), "f(\n    " + word + ",\n    " + word + ",\n    " + word + ",\n)\n");
}

TEST(Python, APackedLineEndsInNoTextAndBeforeNoComment) {
  Code code(20);
  code.assign_packed("X", list({atom(quoted("a text \\ of \" words")), atom("1")}));
  EXPECT_EQ(code.text(), "X =\n [\"a text \\\\ of \\\" words\",\n 1]  # fmt: skip\n");
}

TEST(Python, BlocksIndent) {
  Code code;
  {
    Block const outer(code, "if a:");
    Block const inner(code, "if b:");
    code.line("c()");
  }
  code.line("d()");
  EXPECT_EQ(code.text(), "if a:\n    if b:\n        c()\nd()\n");
}

TEST(Python, NumbersReadBackAsTheyAre) {
  EXPECT_EQ(number(0.1F), "0.1");
  EXPECT_EQ(number(3.0F), "3.0");
  EXPECT_EQ(number(-0.0F), "-0.0");
  EXPECT_EQ(number(std::numeric_limits<float>::infinity()), "inf");
  EXPECT_EQ(number(std::nanf("")), "nan");
  EXPECT_EQ(exact_number(1e-3F), "0.0010000000474974513");
  EXPECT_EQ(exact_number(0.5F), "0.5");
}

TEST(Python, TextsAreEscaped) {
  EXPECT_EQ(quoted("a \"b\" \\c"), "\"a \\\"b\\\" \\\\c\"");
}

TEST(Imports, AreSortedWithTheStandardLibraryFirst) {
  Imports imports;
  imports.add_from("torch", "nn");
  imports.add_as("torch.distributed", "dist");
  imports.add("torch");
  imports.add("sys");
  imports.add_from("torch.distributed.fsdp", "fully_shard");
  imports.add_from("torch.distributed.fsdp", "MixedPrecisionPolicy");
  Code code;
  imports.write(code);
  EXPECT_EQ(code.text(),
            "import sys\n"
            "sys.excepthook = lambda kind, error, at: "
            "(print(f\"line {at.tb_lineno}: {kind.__name__}: {error}\"), sys.exit(2))\n"
            "\nimport torch\nimport torch.distributed as dist\nfrom torch import nn\n"
            "from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard\n");
}

TEST(Imports, OfTheStandardLibraryShareALineWhereAScriptIsLong) {
  Imports imports;
  for (char const* const module : {"sys", "os", "torch"}) imports.add(module);
  Code code;
  imports.write(code, Imports::Lines::one);
  EXPECT_TRUE(code.text().starts_with("import os, sys\n")) << code.text();
  EXPECT_TRUE(code.text().ends_with("\n\nimport torch\n")) << code.text();
}

}  // namespace
}  // namespace adamant::scenarios::python
