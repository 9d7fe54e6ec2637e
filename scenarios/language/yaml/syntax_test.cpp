// Mistakes that people make in YAML: each is named at its own line, and what would be right.
#include "scenarios/language/yaml/syntax.h"

#include <gtest/gtest.h>

#include "scenarios/language/yaml/load.h"

namespace adamant::scenarios {
namespace {

struct Mistake {
  char const* what;
  std::string text;  // after three good lines
  std::string message;
};

class YamlMistake : public testing::TestWithParam<Mistake> {};

TEST_P(YamlMistake, IsNamedAtItsLine) {
  std::string const text = "adamant: 1\nname: x\nworld: {shard: 2}\n" + GetParam().text;
  try {
    load_scenario_text(text, "f");
    FAIL() << "it was read";
  } catch (LoadError const& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos)
        << error.what();
  }
}

Mistake const mistakes[] = {
    {"Tab", "params:\n\t- {name: w, shape: [3]}\nprogram: [step]\n",
     "f:5: params: wrong YAML syntax: a tab indents this line; YAML is indented by spaces alone"},
    {"ColonBeforeAList", "params [{name: w, shape: [3]}]\nprogram: [step]\n",
     "f:4: document: wrong YAML syntax: `params` has no colon; expected `params:`"},
    {"ColonInAMap", "params: [{name: w, shape [3]}]\nprogram: [step]\n",
     "f:4: params[0]: wrong YAML syntax: `shape` has no colon; expected `shape:`"},
    {"ColonBeforeAMap", "world {shard: 2}\nprogram: [step]\n",
     "f:4: `world {shard`: `world` has no colon; expected `world:`"},
    {"ColonAboveKeys", "optimizer\n  lr: 1\nprogram: [step]\n",
     "f:4: document: wrong YAML syntax: `optimizer` has no colon; expected `optimizer:`"},
    {"ColonOfAnItem", "program:\n- step\n  count: 3\n",
     "f:5: program[0]: wrong YAML syntax: `step` has no colon; expected `step:`"},
    {"OpenBracket", "params: [{name: w, shape: [3]}\nprogram: [step]\nseed: 3\n",
     "f:4: params[1]: wrong YAML syntax: `[` is never closed; expected `]`"},
    {"OpenBrace", "optimizer: {lr: 1\nseed: 3\n",
     "f:4: optimizer: wrong YAML syntax: `{` is never closed; expected `}`"},
    {"WrongBracket", "params: [{name: w, shape: [3}]\nprogram: [step]\n",
     "wrong YAML syntax: `[` is closed by `}` in line 4; expected `]`"},
    {"OpenQuote", "models: \"abc\nprogram: [step]\nseed: 3\n",
     "f:4: models: wrong YAML syntax: `\"` is not closed in this line"},
    {"OpenQuoteInBrackets", "params: [{name: 'w, shape: [3]}]\nprogram: [step]\n",
     "f:4: params[0]: wrong YAML syntax: `'` is not closed in this line"},
    {"QuoteClosedByTheNext", "models: \"abc\nname: \"x\"\nprogram: [step]\n",
     "f:4: document: wrong YAML syntax: `\"` is not closed in this line"},
    {"QuoteInABlock", "about: >\n  'tis a text [of {two\n  lines\nparams: [{name: w, shape: [3}]\n",
     "f:7: params[0]: wrong YAML syntax: `[` is closed by `}` in line 7; expected `]`"},
    {"BelowABlock", "about: |-\n  it\n\n  'tis\nparams:\n  - name: w\n   shape: [3]\n",
     "f:10: params[1]: wrong YAML syntax: is indented by 3, the lines above by 2 or 4"},
    {"Indentation", "params:\n  - name: w\n   shape: [3]\nprogram: [step]\n",
     "f:6: params[1]: wrong YAML syntax: is indented by 3, the lines above by 2 or 4"},
    {"SpaceAfterAColon", "optimizer:{lr: 1}\nprogram: [step]\n",
     "f:4: `optimizer:{lr`: a space is missing after `optimizer:`"},
    {"IndentationBelowAValue", "seed: 3\n program: [step]\n",
     "f:5: document: wrong YAML syntax: is indented by 1, below a key that has its value; expected "
     "0"},
    {"IndentationBelowABracket", "optimizer: {lr: 1}\n program: [step]\n",
     "f:5: document: wrong YAML syntax: is indented by 1, below a key that has its value; expected "
     "0"},
    {"IndentationBelowALongBracket", "optimizer: {lr: 1,\n  eps: 1}\n program: [step]\n",
     "f:6: document: wrong YAML syntax: is indented by 1, below a key that has its value; expected "
     "0"},
    {"MergeKey", "optimizer: {<<: {lr: 1}}\n",
     "f:4: optimizer.<<: merge keys are no part of the format; write the keys out here"},
    {"MergeOfNothing", "optimizer:\n  <<: *common\n",
     "f:5: optimizer.<<: merge keys are no part of the format; write the keys out here"},
    {"Group", "params: [{name: w, shape: [3], group: nodecay}]\nprogram: [step]\n",
     "f:4: params[0].group: no group `nodecay` is defined; expected `groups: {nodecay: {…}}` too"},
    {"NearGroup",
     "groups: {no_decay: {lr: 1}}\nparams: [{name: w, shape: [3], group: nodecay}]\n"
     "program: [step]\n",
     "f:5: params[0].group: no group `nodecay` is defined (did you mean `no_decay`?); defined: "
     "no_decay"},
};

INSTANTIATE_TEST_SUITE_P(All, YamlMistake, testing::ValuesIn(mistakes),
                         [](auto const& tested) { return std::string(tested.param.what); });

TEST(SyntaxCause, IsNothingWhereNoneOfThemIsThere) {
  EXPECT_FALSE(find_syntax_cause("a: \"on\n  two lines\"\nb: [it's, \"1\"]\n", 3));
  EXPECT_FALSE(find_syntax_cause("a: it's [plain\nb:\n  - c: 1\n    d: 2\n", 4));
  EXPECT_FALSE(find_syntax_cause("a: |\n  b: 1\nc: # why\n  d: 1\ne: &f\n  g: 1\n", 6));
  EXPECT_FALSE(find_syntax_cause("", 1));
}

}  // namespace
}  // namespace adamant::scenarios
