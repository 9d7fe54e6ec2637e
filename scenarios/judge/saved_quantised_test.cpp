// Files of checkpoints with a quantised parameter: what they say, and what a judge says of them.
#include "scenarios/judge/saved/quantised.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/judge/quantised.h"
#include "scenarios/judge/saved_judge.h"
#include "scenarios/judge/testing/quantised_world.h"
#include "scenarios/judge/testing/saved_entries.h"
#include "scenarios/report/words/sentences.h"

namespace adamant::scenarios {
namespace {

std::vector<std::uint8_t> paired(std::vector<std::uint8_t> const& codes) {
  std::vector<std::uint8_t> pairs;
  for (std::size_t i = 0; i < codes.size(); i += 2)
    pairs.push_back(static_cast<std::uint8_t>(codes[i] + 16 * codes[i + 1]));
  return pairs;
}

/// Two files, of which the first has some rows and what is the whole tensor's, or a manifest too.
class Checkpoint {
 public:
  explicit Checkpoint(Recipe recipe) : world(recipe) {
    auto const& model = world.reference().model();
    auto const values = [&](TensorKind kind) {
      auto const all = model.tensor(0, kind);
      return entry(model.spec(0).shape, std::vector<float>(all.begin(), all.end()));
    };
    cut("model.w", values(TensorKind::parameter));
    for (TensorKind const kind : {TensorKind::main, TensorKind::exp_avg, TensorKind::exp_avg_sq})
      cut("optim.state.w." + std::string(name_of(kind)), values(kind));
    first["optim.state.w.step"] = entry({}, std::vector<float>{2.0F});
    add_codes(model, recipe);
  }

  std::vector<StoredFile> files() {
    stored_ = {file_of(first), file_of(second)};
    AdamConfig const& settings = world.reference().model().group(0);
    nlohmann::json const group = {{"name", ""},
                                  {"mode", settings.mode == AdamMode::adamw ? "adamw" : "adam"},
                                  {"lr", settings.learning_rate},
                                  {"betas", {settings.beta1, settings.beta2}},
                                  {"eps", settings.epsilon},
                                  {"weight_decay", settings.weight_decay},
                                  {"bias_correction", settings.bias_correction},
                                  {"step", 2},
                                  {"parameters", {"w"}}};
    manifest_ = nlohmann::json{{"body",
                                {{"groups", nlohmann::json::array({group})},
                                 {"parameter_steps", {{"w", 2}}},
                                 {"numbers", nlohmann::json::object()}}}}
                    .dump();
    return {{.name = "adamant.json", .bytes = std::as_bytes(std::span(manifest_))},
            {.name = "shard-00001-model-00001-of-00001.safetensors", .bytes = stored_[0]},
            {.name = "shard-00002-model-00001-of-00001.safetensors", .bytes = stored_[1]}};
  }

  std::optional<Violation> fault() {
    std::int64_t const numel = world.parameters().front().numel();
    std::vector<ElementRange> const held = {{0, numel / 4}, {numel / 4, numel}};
    return fault_of_saved(files(), world.reference(),
                          {.mesh = {.shards = 2}, .held = [&](int, int rank, TensorKind) {
                             return std::span(held).subspan(static_cast<std::size_t>(rank), 1);
                           }});
  }

  QuantisedWorld world;
  Entries first;
  Entries second;

 private:
  void cut(std::string const& key, SavedEntry const& whole) {
    std::int64_t const at = whole.shape.front() / 4;
    first[key] = rows_of(whole, 0, at);
    second[key] = rows_of(whole, at, whole.shape.front());
  }

  void add_codes(oracle::Model const& model, Recipe recipe) {
    auto const& quantised = model.quantised(0);
    auto const rows = model.spec(0).shape[0];
    auto const columns = model.spec(0).shape[1];
    bool const four_bits = recipe == Recipe::nvfp4;
    if (four_bits)
      cut("model.w/raw", entry({rows, columns / 2}, paired(quantised.codes)));
    else
      cut("model.w/raw", entry({rows, columns}, quantised.codes));
    if (recipe == Recipe::mxfp8)
      cut("model.w/scale", entry({rows, columns / 32}, quantised.scale_codes));
    if (four_bits) first["model.w/scale"] = entry({rows / 16, columns / 16}, quantised.scale_codes);
    if (recipe == Recipe::fp8_block)
      first["model.w/scale"] = entry({rows / 128, columns / 128}, quantised.scales);
    if (four_bits) first["model.w/amax"] = entry({1}, std::vector{quantised.amax});
    bool const delayed = recipe == Recipe::fp8_delayed;
    if (delayed || recipe == Recipe::fp8_current)
      first["model.w/scale"] = entry({1}, quantised.scales);
    if (!delayed) return;
    auto const& history = model.delayed_scale(0).history;
    first["model.w/history"] = entry({16}, std::vector<float>(history.begin(), history.end()));
    first["model.w/next_scale"] = entry({1}, std::vector{model.delayed_scale(0).next});
  }

  std::vector<std::vector<std::byte>> stored_;
  std::string manifest_;
};

TEST(SavedQuantised, AreRightWithTheOraclesCodesAndScales) {
  for (Recipe const recipe : all_recipes) {
    Checkpoint checkpoint(recipe);
    auto const fault = checkpoint.fault();
    EXPECT_FALSE(fault) << name_of(recipe) << ": " << (fault ? in_one_line(*fault) : "");
  }
}

/// The fault after a byte of a part is another one.
Violation fault_after(Recipe recipe, std::string const& part, std::size_t byte, bool in_second) {
  Checkpoint checkpoint(recipe);
  auto& entries = in_second ? checkpoint.second : checkpoint.first;
  entries.at("model.w" + part).bytes.at(byte) ^= std::byte{1};
  auto const fault = checkpoint.fault();
  EXPECT_TRUE(fault) << name_of(recipe) << part;
  return fault.value_or(Violation{});
}

TEST(SavedQuantised, AWrongCodeIsNamed) {
  for (Recipe const recipe : all_recipes) {
    auto const found = fault_after(recipe, "/raw", 1, true);
    EXPECT_EQ(found.law, Law::checkpoint_roundtrip);
    EXPECT_EQ(found.breach, Breach::saved_otherwise);
    EXPECT_EQ(message_of(found), "the files of the save have another code than the oracle");
    auto const shape = quantised_shape(recipe);
    EXPECT_EQ(found.index, shape[0] / 4 * shape[1] + (recipe == Recipe::nvfp4 ? 2 : 1));
  }
}

TEST(SavedQuantised, SoIsEverythingElse) {
  EXPECT_EQ(fault_after(Recipe::fp8_delayed, "/scale", 0, false).text, "scale");
  EXPECT_EQ(fault_after(Recipe::fp8_current, "/scale", 3, false).text, "scale");
  EXPECT_EQ(fault_after(Recipe::fp8_block, "/scale", 4, false).index, 1);
  EXPECT_EQ(fault_after(Recipe::mxfp8, "/scale", 5, true).index, 8 * 2 + 5);
  EXPECT_EQ(fault_after(Recipe::nvfp4, "/scale", 1, false).text, "scale");
  EXPECT_EQ(fault_after(Recipe::nvfp4, "/amax", 2, false).text, "amax");
  EXPECT_EQ(fault_after(Recipe::fp8_delayed, "/history", 4 * 14, false).index, 14);
  EXPECT_EQ(fault_after(Recipe::fp8_delayed, "/next_scale", 0, false).text, "next scale");
  auto const value = fault_after(Recipe::mxfp8, "", 0, true);
  EXPECT_EQ(message_of(value), "the files of the save have another value than the oracle");
}

TEST(SavedQuantised, NothingMayBeMissingOrTooMuch) {
  auto const without = [](Recipe recipe, std::string const& part) {
    Checkpoint checkpoint(recipe);
    for (Entries* const entries : {&checkpoint.first, &checkpoint.second})
      entries->erase("model.w" + part);
    auto const fault = checkpoint.fault();
    return fault ? fault->breach : Breach::failed;
  };
  for (char const* const part : {"", "/raw", "/scale", "/history", "/next_scale"})
    EXPECT_EQ(without(Recipe::fp8_delayed, part), Breach::other_files) << part;
  EXPECT_EQ(without(Recipe::nvfp4, "/amax"), Breach::other_files);
  Checkpoint more(Recipe::fp8_delayed);
  more.first["model.w/amax"] = entry({1}, std::vector{1.0F});
  EXPECT_EQ(more.fault()->breach, Breach::other_files);
}

// Another program's files say by themselves what they are.
TEST(SavedQuantised, TellTheOracleWhatToGoOnFrom) {
  for (Recipe const recipe : all_recipes) {
    Checkpoint checkpoint(recipe);
    auto const& expected = checkpoint.world.reference().model();
    auto reference = checkpoint.world.fresh_reference();
    reference.take_from("other", checkpoint.files());
    reference.model().load(*reference.checkpoint("other").candidates.front());
    ElementRange const all{.begin = 0, .end = expected.spec(0).numel()};
    auto const shard = [&](oracle::Model const& model) {
      return quantised_shard(model, 0, std::span(&all, 1), true);
    };
    EXPECT_FALSE(scale_difference(shard(expected), shard(reference.model())));
    EXPECT_FALSE(code_difference(shard(expected), shard(reference.model())));
    for (TensorKind const kind : stepped_kinds)
      EXPECT_TRUE(std::ranges::equal(expected.tensor(0, kind), reference.model().tensor(0, kind)));
  }
}

TEST(SavedQuantised, OfNoShapeForTheirRecipeAreRefused) {
  Checkpoint checkpoint(Recipe::fp8_current);
  auto const files = checkpoint.files();
  std::vector<SavedName> const names = {{"w"}};
  SavedFiles const saved = read_saved_files(files, names);
  EXPECT_TRUE(quantised_in(saved, checkpoint.world.parameters().front()));
  EXPECT_FALSE(quantised_in(saved, {.name = "v", .shape = {4, 3}}));
  EXPECT_ANY_THROW(quantised_in(saved, {.name = "w", .shape = {12}}));
  EXPECT_ANY_THROW(quantised_in(saved, {.name = "w", .shape = {2, 3}}));
  checkpoint.first["model.w/scale"] = entry({4, 0}, std::vector<std::uint8_t>());  // of mxfp8
  auto const cut = checkpoint.files();
  EXPECT_ANY_THROW(
      quantised_in(read_saved_files(cut, names), checkpoint.world.parameters().front()));
}

}  // namespace
}  // namespace adamant::scenarios
