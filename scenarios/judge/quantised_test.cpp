// Quantised parameters: what a judge says of a world that is right but for what a test does to it.
#include "scenarios/judge/quantised.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "scenarios/gradients/blocks.h"
#include "scenarios/gradients/keys.h"
#include "scenarios/judge/testing/dumped_file.h"
#include "scenarios/judge/testing/quantised_world.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {
namespace {

std::vector<int> const every_rank = {0, 1, 2, 3, 4, 5};

TEST(QuantisedParameters, AreRightWithTheOraclesCodesAndScales) {
  for (Recipe const recipe : all_recipes) {
    QuantisedWorld world(recipe);
    EXPECT_TRUE(world.agrees()) << name_of(recipe);
    EXPECT_TRUE(world.compared().empty()) << name_of(recipe);
    auto const last = world.world().shard(2, 0, TensorKind::parameter).quantised;
    ASSERT_NE(last, nullptr);
    EXPECT_EQ(last->scales.empty(), false) << "also where a rank has no elements";
    EXPECT_EQ(world.world().shard(2, 0, TensorKind::main).quantised, nullptr);
  }
}

TEST(QuantisedParameters, AWrongCodeIsNamedByItsPlaceInTheWhole) {
  for (Recipe const recipe : all_recipes) {
    QuantisedWorld world(recipe);
    auto const found =
        world.found_after({1, 4}, [](QuantisedShard& shard) { shard.codes[2] ^= 1; });
    EXPECT_EQ(found.law, Law::values_bitwise);
    EXPECT_EQ(found.breach, Breach::other_code);
    EXPECT_EQ(ranks_of(found), std::vector{1}) << "its replica has the same";
    auto const shape = quantised_shape(recipe);
    auto const first =
        (shape[0] + QuantisedWorld::world_size - 1) / QuantisedWorld::world_size * shape[1];
    EXPECT_EQ(found.index, first + 2);
    EXPECT_EQ(found.ulp, 1U);
    EXPECT_EQ(subject_in_words(found), "w/raw");
  }
}

TEST(QuantisedParameters, ReplicasHaveTheFirstOnesCodes) {
  QuantisedWorld world(Recipe::fp8_current);
  auto const found =
      world.found_after({4}, [](QuantisedShard& shard) { shard.codes.back() ^= 0x80; });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, 4);
  EXPECT_EQ(found.index, 11);
}

// What the two have in common is that reading gives no number; of four bits every code is one.
TEST(QuantisedParameters, AnyNanCodeEqualsAnyOther) {
  auto const distance = [](Recipe recipe, std::uint8_t a, std::uint8_t b) {
    QuantisedShard expected;
    expected.recipe = recipe;
    expected.codes = {1, a};
    QuantisedShard held = expected;
    held.codes = {1, b};
    auto const found = code_difference(expected, held);
    EXPECT_TRUE(!found || found->index == 1);
    return found ? found->ulp : 0;
  };
  EXPECT_EQ(distance(Recipe::mxfp8, 0x7f, 0xff), 0U);
  EXPECT_EQ(distance(Recipe::mxfp8, 0x7f, 0x7e), 1U);
  EXPECT_EQ(distance(Recipe::fp8_delayed, 0xfe, 0xff), 1U);
  EXPECT_EQ(distance(Recipe::fp8_block, 0x80, 0x00), 1U);
  EXPECT_EQ(distance(Recipe::nvfp4, 0x7, 0xf), 15U);
}

TEST(QuantisedParameters, AnotherScaleOnAllRanksIsWrong) {
  for (Recipe const recipe : all_recipes) {
    QuantisedWorld world(recipe);
    auto const found =
        world.found_after(every_rank, [](QuantisedShard& shard) { shard.scales[0] *= 2; });
    EXPECT_EQ(found.law, Law::values_bitwise);
    EXPECT_EQ(found.breach, Breach::other_scale);
    EXPECT_EQ(ranks_of(found), (std::vector{0, 1, 2})) << "replicas have the first one's";
    EXPECT_EQ(subject_in_words(found), "w/scale");
    EXPECT_EQ(std::get<Number>(found.expected).value(),
              world.reference().model().quantised(0).scales[0]);
  }
}

TEST(QuantisedParameters, AnotherScaleOfTheWholeTensorOnOneRankIsADisagreement) {
  for (Recipe const recipe :
       {Recipe::fp8_delayed, Recipe::fp8_current, Recipe::fp8_block, Recipe::nvfp4}) {
    QuantisedWorld world(recipe);
    auto const found =
        world.found_after({2, 5}, [](QuantisedShard& shard) { shard.scales.back() *= 2; });
    EXPECT_EQ(found.law, Law::ranks_agree);
    EXPECT_EQ(ranks_of(found), std::vector{2});
    auto const count = std::ssize(world.reference().model().quantised(0).scales);
    EXPECT_EQ(found.index, count == 1 ? -1 : count - 1);
    EXPECT_EQ(message_of(found),
              "the scale that the rank stores its numbers with differs from rank 0's");
  }
}

TEST(QuantisedParameters, AnotherScaleOfOwnElementsIsWrongByItself) {
  QuantisedWorld world(Recipe::mxfp8);
  auto const found = world.found_after({1, 4}, [](QuantisedShard& shard) {
    shard.scale_codes[3] += 1;
    shard.scales[3] *= 2;
  });
  EXPECT_EQ(found.law, Law::values_bitwise);
  EXPECT_EQ(found.breach, Breach::other_scale);
  EXPECT_EQ(ranks_of(found), std::vector{1});
  EXPECT_EQ(found.index, 11 * 2 + 3);
  EXPECT_EQ(found.ulp, 1U);
  EXPECT_EQ(sides_in_words(found).actual.substr(0, 5), "code ");
}

TEST(QuantisedParameters, TheTensorsAmaxIsKeptOnEveryRank) {
  QuantisedWorld world(Recipe::nvfp4);
  auto const found = world.found_after({1, 4}, [](QuantisedShard& shard) { shard.amax *= 2; });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.breach, Breach::other_amax);
  EXPECT_EQ(subject_in_words(found), "w/amax");
  EXPECT_EQ(std::get<Number>(found.expected).value(), world.reference().model().quantised(0).amax);
}

TEST(QuantisedParameters, AStaleHistoryIsFoundBeforeItsScaleIsUsed) {
  QuantisedWorld world(Recipe::fp8_delayed);
  auto const found = world.found_after(every_rank, [](QuantisedShard& shard) {
    shard.delayed.history.back() = shard.delayed.history[14];
  });
  EXPECT_EQ(found.law, Law::values_bitwise);
  EXPECT_EQ(found.breach, Breach::other_history);
  EXPECT_EQ(found.index, 15);
  EXPECT_EQ(subject_in_words(found), "w/history");
  EXPECT_EQ(ranks_of(found), (std::vector{0, 1, 2}));
}

TEST(QuantisedParameters, ARankWithoutElementsHasTheHistoryToo) {
  QuantisedWorld world(Recipe::fp8_delayed);
  auto const found = world.found_after({2, 5}, [](QuantisedShard& shard) { shard.delayed = {}; });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.rank, 2);
}

TEST(QuantisedParameters, ReplicasHaveTheFirstOnesNextScale) {
  QuantisedWorld world(Recipe::fp8_delayed);
  auto const found =
      world.found_after({3}, [](QuantisedShard& shard) { shard.delayed.next = 1.0F; });
  EXPECT_EQ(found.law, Law::ranks_agree);
  EXPECT_EQ(found.breach, Breach::other_next_scale);
  EXPECT_EQ(subject_in_words(found), "w/next_scale");
  EXPECT_EQ(found.rank, 3);
}

TEST(QuantisedParameters, ValuesAreWhatReadingGives) {
  QuantisedWorld world(Recipe::fp8_current);
  std::vector<std::byte> bytes;
  auto const found = world.found_after([&](int rank, TensorKind kind, Shard& shard) {
    if (kind != TensorKind::parameter || rank % QuantisedWorld::world_size != 1) return;
    bytes.assign(shard.bytes.begin(), shard.bytes.end());
    bytes[4] ^= std::byte{1};
    shard.bytes = bytes;
  });
  EXPECT_EQ(found.breach, Breach::other_value);
  EXPECT_EQ(found.index, 6 + 1);
}

TEST(QuantisedParameters, AreOfTheirRecipe) {
  QuantisedWorld world(Recipe::fp8_current);
  auto const found = world.found_after(
      every_rank, [](QuantisedShard& shard) { shard.recipe = Recipe::fp8_delayed; });
  EXPECT_EQ(found.breach, Breach::other_type);
  EXPECT_EQ(sides_in_words(found).expected, "rows [0, 2) in fp8_current");
  EXPECT_EQ(sides_in_words(found).actual, "rows [0, 2) in fp8_delayed");
}

TEST(QuantisedParameters, PlainNumbersInTheirPlaceAreOfAnotherType) {
  QuantisedWorld world(Recipe::mxfp8);
  auto const found = world.found_after([](int, TensorKind, Shard& shard) { shard.quantised = {}; });
  EXPECT_EQ(found.breach, Breach::other_type);
  EXPECT_EQ(sides_in_words(found).actual, "rows [0, 11) in fp32");
}

TEST(QuantisedParameters, ABackwardSeesWhatReadingGives) {
  QuantisedWorld world(Recipe::nvfp4);
  oracle::Model const& model = world.reference().model();
  auto const values = oracle::read(model.quantised(0), {.rows = 16, .columns = 32}, Recipe::nvfp4);
  std::vector<std::uint32_t> hashes(values.size());
  hash_block(gradient_key({.seed = 7, .parameter = 0}, 5), 0, hashes);
  EXPECT_EQ(world.reference().fingerprint(0, 5), fingerprint_block(hashes, values.data()));
}

// ---- dumps -------------------------------------------------------------------------------------

TEST(QuantisedParameters, AreDumpedAsReadAndWithWhatTheyAreReadFrom) {
  for (Recipe const recipe : all_recipes) {
    QuantisedWorld world(recipe);
    DumpedFile const file = dumped_state(world.parameters(), world.world());
    oracle::Model const& model = world.reference().model();
    oracle::Quantised const& expected = model.quantised(0);
    auto const codes_in = [&](std::string const& name) {
      std::vector<std::uint8_t> codes;
      EXPECT_EQ(file.header.at(name).at("dtype"), "U8");
      for (std::byte const byte : file.bytes(name))
        codes.push_back(std::to_integer<std::uint8_t>(byte));
      return codes;
    };
    auto const numbers_in = [&](std::string const& name) {
      EXPECT_EQ(file.header.at(name).at("dtype"), "F32");
      return file.numbers(name, NumberFormat::fp32);
    };
    auto const values = model.tensor(0, TensorKind::parameter);
    EXPECT_EQ(numbers_in("w"), std::vector(values.begin(), values.end()));
    auto const raw = codes_in("w/raw");
    bool const four_bits = recipe == Recipe::nvfp4;
    for (std::size_t i = 0; i < expected.codes.size(); ++i)
      ASSERT_EQ(four_bits ? raw[i / 2] >> (i % 2 * 4) & 0xf : raw[i], expected.codes[i]);
    if (expected.scale_codes.empty()) {
      EXPECT_EQ(numbers_in("w/scale"), expected.scales);
    } else {
      EXPECT_EQ(codes_in("w/scale"), expected.scale_codes);
    }
    EXPECT_EQ(file.header.contains("w/amax"), four_bits);
    if (four_bits) {
      EXPECT_EQ(numbers_in("w/amax"), std::vector{expected.amax});
    }
    bool const delayed = recipe == Recipe::fp8_delayed;
    EXPECT_EQ(file.header.contains("w/history"), delayed);
    EXPECT_EQ(file.header.contains("w/next_scale"), delayed);
    if (!delayed) continue;
    auto const& history = model.delayed_scale(0).history;
    EXPECT_EQ(numbers_in("w/history"), std::vector(history.begin(), history.end()));
    EXPECT_EQ(numbers_in("w/next_scale"), std::vector{model.delayed_scale(0).next});
  }
}

TEST(QuantisedParameters, AreDumpedInTheShapesOfTheirParts) {
  auto const shape_in = [](Recipe recipe, std::string const& name) {
    QuantisedWorld world(recipe);
    return dumped_state(world.parameters(), world.world()).header.at(name).at("shape");
  };
  using Shape = std::vector<int>;
  EXPECT_EQ(shape_in(Recipe::nvfp4, "w/raw"), (Shape{16, 16}));
  EXPECT_EQ(shape_in(Recipe::nvfp4, "w/scale"), (Shape{1, 2}));
  EXPECT_EQ(shape_in(Recipe::nvfp4, "w/amax"), Shape{1});
  EXPECT_EQ(shape_in(Recipe::mxfp8, "w/raw"), (Shape{32, 64}));
  EXPECT_EQ(shape_in(Recipe::mxfp8, "w/scale"), (Shape{32, 2}));
  EXPECT_EQ(shape_in(Recipe::fp8_block, "w/scale"), (Shape{1, 2}));
  EXPECT_EQ(shape_in(Recipe::fp8_current, "w/scale"), Shape{1});
  EXPECT_EQ(shape_in(Recipe::fp8_delayed, "w/history"), Shape{16});
}

TEST(QuantisedParameters, BeginInDumpsAsTheirMainWeightWasDrawn) {
  QuantisedWorld world(Recipe::fp8_current);
  DumpedFile const file = dumped_initial(world.parameters(), world.world());
  auto const main = world.reference().model().tensor(0, TensorKind::main);
  EXPECT_EQ(file.numbers("w", NumberFormat::fp32), std::vector(main.begin(), main.end()));
  EXPECT_EQ(file.header.size(), 1U);
}

TEST(QuantisedParameters, WhoseRanksLostCodesAreDumpedWithoutThem) {
  QuantisedWorld world(Recipe::mxfp8);
  world.tamper_with([](int rank, TensorKind kind, Shard& shard) {
    if (rank == 1 && kind == TensorKind::parameter) shard.quantised = nullptr;
  });
  EXPECT_FALSE(dumped_state(world.parameters(), world.world()).header.contains("w/raw"));
}

}  // namespace
}  // namespace adamant::scenarios
