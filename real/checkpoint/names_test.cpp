#include "real/checkpoint/names.h"

#include <gtest/gtest.h>

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {
namespace {

using Keys = std::set<std::string>;

std::vector<std::string> const wanted = {model_key("a.w"), model_key("b"),
                                         state_key("a.w", "exp_avg"), state_key("b", "exp_avg")};

std::string refused_keys(Keys const& saved) {
  try {
    match_keys(wanted, saved);
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::incompatible);
    return error.what();
  }
  return "not refused";
}

TEST(Names, FilesAreCalledAsPytorchCallsThem) {
  EXPECT_EQ(shard_file_name(0), "shard-00001-model-00001-of-00001.safetensors");
  EXPECT_EQ(shard_file_name(123'456), "shard-123457-model-00001-of-00001.safetensors");
  EXPECT_TRUE(is_shard_file(shard_file_name(7)));
  EXPECT_FALSE(is_shard_file("adamant.json"));
}

TEST(Names, OwnKeysStandForThemselves) {
  auto const matched = match_keys(wanted, Keys(wanted.begin(), wanted.end()));
  for (std::string const& key : wanted) EXPECT_EQ(matched.at(key), key);
}

TEST(Names, AnyPrefixIsAccepted) {
  auto const matched =
      match_keys(wanted, {"a.w", "b", "app.opt.a.w.exp_avg", "app.opt.b.exp_avg", "other"});
  EXPECT_EQ(matched.at("model.a.w"), "a.w");
  EXPECT_EQ(matched.at("model.b"), "b");
  EXPECT_EQ(matched.at("optim.state.b.exp_avg"), "app.opt.b.exp_avg");
}

TEST(Names, StatesAreFoundWithoutTheirParameters) {
  std::vector<std::string> const states = {state_key("a.w", "exp_avg"), state_key("b", "exp_avg")};
  auto const matched = match_keys(states, {"app.a.w.exp_avg", "app.b.exp_avg"});
  EXPECT_EQ(matched.at("optim.state.a.w.exp_avg"), "app.a.w.exp_avg");
  EXPECT_EQ(matched.at("optim.state.b.exp_avg"), "app.b.exp_avg");
}

// `w` is also the end of `a.w`: only one prefix serves both.
TEST(Names, APrefixServesAllParameters) {
  std::vector<std::string> const both = {model_key("w"), model_key("a.w")};
  auto const matched = match_keys(both, {"net.w", "net.a.w"});
  EXPECT_EQ(matched.at("model.w"), "net.w");
}

TEST(Names, WhatIsMissingIsNamed) {
  EXPECT_EQ(refused_keys({"model.a.w", "model.b", "optim.state.a.w.exp_avg"}),
            "tensor optim.state.b.exp_avg is not saved, nor under another prefix");
  EXPECT_EQ(refused_keys({}), "tensor model.a.w is not saved, nor under another prefix");
}

TEST(Names, TwoPrefixesAreRefused) {
  EXPECT_EQ(refused_keys({"x.a.w", "x.b", "y.a.w", "y.b"}),
            "tensor model.a.w is saved as x.a.w and y.a.w: which of them is meant is not clear");
}

}  // namespace
}  // namespace adamant::real
