#include "real/checkpoint/names.h"

#include <gtest/gtest.h>

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {
namespace {

using Keys = std::set<std::string>;

using Wanted = std::vector<WantedKey>;

Wanted const wanted = {{model_key("a.w")},
                       {model_key("b")},
                       {state_key("a.w", "exp_avg")},
                       {state_key("b", "exp_avg")}};

std::string refused_keys(Keys const& saved, Wanted const& of = wanted) {
  try {
    match_keys(of, saved);
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::incompatible);
    return error.what();
  }
  return "not refused";
}

TEST(Names, FilesAreCalledAsPytorchCallsThem) {
  EXPECT_EQ(shard_file_name(0), "shard-00001-model-00001-of-00001.safetensors");
  EXPECT_EQ(shard_file_name(123'456), "shard-123457-model-00001-of-00001.safetensors");
  EXPECT_EQ(shard_file_name(4, 1, 3), "shard-00005-model-00002-of-00003.safetensors");
  EXPECT_TRUE(is_shard_file(shard_file_name(7)));
  EXPECT_FALSE(is_shard_file("adamant.json"));
}

TEST(Names, OwnKeysStandForThemselves) {
  Keys keys;
  for (WantedKey const& is : wanted) keys.insert(is.key);
  auto const matched = match_keys(wanted, keys);
  for (std::string const& key : keys) EXPECT_EQ(matched.at(key), key);
}

TEST(Names, AnyPrefixIsAccepted) {
  auto const matched =
      match_keys(wanted, {"a.w", "b", "app.opt.a.w.exp_avg", "app.opt.b.exp_avg", "other"});
  EXPECT_EQ(matched.at("model.a.w"), "a.w");
  EXPECT_EQ(matched.at("model.b"), "b");
  EXPECT_EQ(matched.at("optim.state.b.exp_avg"), "app.opt.b.exp_avg");
}

TEST(Names, StatesAreFoundWithoutTheirParameters) {
  Wanted const states = {{state_key("a.w", "exp_avg")}, {state_key("b", "exp_avg")}};
  auto const matched = match_keys(states, {"app.a.w.exp_avg", "app.b.exp_avg"});
  EXPECT_EQ(matched.at("optim.state.a.w.exp_avg"), "app.a.w.exp_avg");
  EXPECT_EQ(matched.at("optim.state.b.exp_avg"), "app.b.exp_avg");
}

// `w` is also the end of `a.w`: only one prefix serves both.
TEST(Names, APrefixServesAllParameters) {
  Wanted const both = {{model_key("w")}, {model_key("a.w")}};
  auto const matched = match_keys(both, {"net.w", "net.a.w"});
  EXPECT_EQ(matched.at("model.w"), "net.w");
}

TEST(Names, FilesOfOneRankHaveOneOwner) {
  EXPECT_EQ(owner_of_file(shard_file_name(4, 1, 3)), owner_of_file(shard_file_name(4)));
  EXPECT_NE(owner_of_file(shard_file_name(4)), owner_of_file(shard_file_name(5)));
  EXPECT_EQ(owner_of_file("other.safetensors"), "other.safetensors");
  EXPECT_EQ(owner_of_file("shard-other.safetensors"), "shard-other.safetensors");
}

Wanted const fused = {{"model.a.w"}, {"model.w", {"model.w.up", "model.w.gate"}}};

TEST(Names, PartsStandForAWhole) {
  auto const matched = match_keys(fused, {"model.a.w", "model.w.up", "model.w.gate"});
  EXPECT_EQ(matched.size(), 3U);
  EXPECT_EQ(matched.at("model.w.gate"), "model.w.gate");
  auto const prefixed = match_keys(fused, {"net.a.w", "net.w.up", "net.w.gate"});
  EXPECT_EQ(prefixed.at("model.w.up"), "net.w.up");
  EXPECT_EQ(match_keys(fused, {"net.a.w", "net.w"}).at("model.w"), "net.w");
}

TEST(Names, PartsAreAllThereAndNotBesideTheWhole) {
  EXPECT_EQ(refused_keys({"model.a.w", "model.w.up"}, fused),
            "tensor model.w is not saved, nor under another prefix");
  EXPECT_EQ(refused_keys({"model.a.w", "model.w", "model.w.gate"}, fused),
            "tensor model.w: is saved as a whole and as the part model.w.gate: which of them is "
            "meant is not clear");
}

TEST(Names, APartWithTheNameOfAParameterIsRefused) {
  Wanted const same = {{"model.w", {"model.w.up"}}, {"model.w.up"}};
  EXPECT_EQ(refused_keys({"model.w.up"}, same),
            "tensor model.w.up is a parameter's and a part's of another");
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
