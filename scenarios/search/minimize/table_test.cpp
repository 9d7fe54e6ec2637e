// Law:        a key and a verb that are added to the tables are read, written, in the schema, reset
//             and weighed by the minimiser, refused where no engine has them, and have help.
// Sense:      a copy of the tables with one of each more; nothing else is told of them.
// Must catch: a part of the program that lists keys or verbs by itself.
#include "scenarios/language/table.h"

#include <gtest/gtest.h>

#include "scenarios/language/schema/schema.h"
#include "scenarios/language/yaml/help.h"
#include "scenarios/language/yaml/read_verb.h"
#include "scenarios/language/yaml/write_value.h"
#include "scenarios/seam/offered.h"
#include "scenarios/search/minimize/weigh_keys.h"

namespace adamant::scenarios {

namespace {

/// An optimizer with a key more.
struct Longer : Optimizer {
  bool amsgrad = false;
  friend bool operator==(Longer const&, Longer const&) = default;
};

/// A verb more.
struct Rest {
  std::int64_t count = 1;
};
using LongerAction = std::variant<Step, ZeroGrad, Rest>;

}  // namespace

template <>
inline constexpr MapName map_name<Longer>{"optimizer", "optimizer: "};
template <>
inline constexpr auto keys_of<Longer> = std::tuple_cat(
    keys_of<Optimizer>,
    std::tuple{Key{"amsgrad", &Longer::amsgrad, kinds::Flag{},
                   About{.meaning = "keeps the largest second moment"}, &Capabilities::offload}});

template <>
inline constexpr auto verbs_of<LongerAction> =
    std::tuple{verb<Step>("step", NoArgument{}, "one step", {}),
               verb<ZeroGrad>("zero_grad", OptionalKeys{}, "forgets gradients", {}),
               verb<Rest>("rest", OneValue{&Rest::count, kinds::Integer{any_count}},
                          "does nothing so many times", {.weight = 14})};

namespace {

template <typename T>
T read(std::string const& text, Reader& reader) {
  Tree const tree = parse_tree(text);
  T whole;
  read_map(reader, {tree.root, ""}, whole);
  return whole;
}

std::optional<LongerAction> read_longer_action(std::string const& text, Reader& reader) {
  Tree const tree = parse_tree(text);
  return read_action<LongerAction>(reader, {tree.root, ""});
}

TEST(AddedKey, IsReadAndWritten) {
  Reader reader;
  auto const longer = read<Longer>("{capturable: true, amsgrad: true}", reader);
  EXPECT_TRUE(reader.problems().empty());
  EXPECT_TRUE(longer.amsgrad && longer.capturable);
  EXPECT_EQ(write_map(longer), "{capturable: true, amsgrad: true}");
  EXPECT_EQ(write_map(Longer{}), "{}");
}

TEST(AddedKey, IsNamedWhereAnotherIsNotKnown) {
  Reader reader;
  read<Longer>("{amsgrat: true}", reader);
  ASSERT_EQ(reader.problems().size(), 1U);
  EXPECT_NE(reader.problems().front().message.find("did you mean `amsgrad`?"), std::string::npos);
}

TEST(AddedKey, IsInTheSchema) {
  decltype(schema_of(kinds::Flag{})) expected = {
      {"description", "keeps the largest second moment"}};
  expected.update(schema_of(kinds::Flag{}));
  EXPECT_EQ(schema_of_map<Longer>().at("properties").at("amsgrad"), expected);
}

TEST(AddedKey, IsWeighedAndReset) {
  Longer longer;
  longer.amsgrad = true;
  EXPECT_EQ(KeyWeight::of(longer).features, 1U + KeyWeight::of(Longer{}).features);
  for_each_key<Longer>([&](auto const& row) { reset(longer, row); });
  EXPECT_EQ(longer, Longer{});
}

TEST(AddedKey, IsRefusedWhereItIsNotOffered) {
  Longer longer;
  longer.amsgrad = true;
  Capabilities able;
  able.optimizers = {AdamMode::adamw};
  able.bias_correction = {true};
  able.loss_scale = {LossScale::Kind::none};
  auto const line_of = [](std::string_view key) { return SourceLine{key == "amsgrad" ? 7 : 1}; };
  auto const refusal = refuse_keys(longer, able, line_of);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->id, "unsupported.amsgrad");
  EXPECT_EQ(refusal->message, "amsgrad is asked for; supported: false");
  EXPECT_EQ(refusal->line, 7);
  able.offload = true;
  EXPECT_FALSE(refuse_keys(longer, able, line_of));
}

TEST(AddedKey, HasHelp) {
  std::vector<HelpEntry> entries;
  add_help<Longer>("amsgrad", entries);
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(text_of(entries.front()),
            "amsgrad, a key of optimizer: keeps the largest second moment\n"
            "  values:  true or false\n"
            "  default: false\n"
            "  example: optimizer: {amsgrad: true}\n");
}

TEST(AddedVerb, IsReadAndWritten) {
  Reader reader;
  auto const action = read_longer_action("{rest: 3}", reader);
  ASSERT_TRUE(action);
  EXPECT_EQ(std::get<Rest>(*action).count, 3);
  EXPECT_EQ(write_action(*action), "rest: 3");
  EXPECT_EQ(traits_of(*action).weight, 14U);
}

TEST(AddedVerb, IsNamedWhereAnotherIsNotKnown) {
  Reader reader;
  EXPECT_FALSE(read_longer_action("{rust: 3}", reader));
  EXPECT_FALSE(read_longer_action("rest", reader));
  ASSERT_EQ(reader.problems().size(), 2U);
  EXPECT_EQ(reader.problems()[0].message,
            "unknown operation `rust` (did you mean `rest`?); known: step, zero_grad or rest");
  EXPECT_EQ(reader.problems()[1].message, "rest needs a value, as in {rest: ...}");
}

TEST(AddedVerb, IsInTheSchemaAndHasHelp) {
  auto const operation = schema_of_operation<LongerAction>();
  decltype(schema_of(kinds::Flag{})) expected = {{"description", "does nothing so many times"}};
  expected.update(schema_of(kinds::Integer{any_count}));
  EXPECT_EQ(operation.at("properties").at("rest"), expected);
  EXPECT_EQ(help_on_verbs<LongerAction>().back().example, "program: [{rest: 2}]");
}

}  // namespace
}  // namespace adamant::scenarios
