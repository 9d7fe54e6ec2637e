// What a file says of tensors that are read with scales: taken apart, and not believed where it is
// no such tensor.
#include "scenarios/peers/client/scaled_tensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <limits>

#include "oracle/formats/formats.h"
#include "scenarios/peers/client/process.h"

namespace adamant::scenarios {
namespace {

using Extent = std::vector<std::int64_t>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <typename Number>
TensorFromFile tensor(NumberFormat format, Extent shape, std::vector<Number> const& numbers) {
  TensorFromFile made{.format = format, .shape = std::move(shape), .bytes = {}};
  made.bytes.resize(numbers.size() * sizeof(Number));
  if (!numbers.empty()) std::memcpy(made.bytes.data(), numbers.data(), made.bytes.size());
  return made;
}
TensorFromFile numbers(Extent shape, std::vector<float> const& values) {
  return tensor(NumberFormat::fp32, std::move(shape), values);
}
TensorFromFile codes(Extent shape, std::vector<std::uint8_t> const& bytes) {
  return tensor(NumberFormat::fp8, std::move(shape), bytes);
}

using Change = std::function<void(TensorFile&)>;

/// Sets a part, or takes it away.
Change with_part(std::string const& part, TensorFromFile const& made) {
  return [=](TensorFile& file) { file["w" + part] = made; };
}
Change without_part(std::string const& part) {
  return [=](TensorFile& file) { file.erase("w" + part); };
}

struct WrongPart {
  Change change;
  std::string text;
};

template <typename Read>
std::string complaint_of(TensorFile file, Change const& change, Read const& read) {
  change(file);
  try {
    read(file);
    return "";
  } catch (PeerError const& error) {
    return error.what();
  }
}

/// 1 and -2, times 0.5.
TensorFile a_state() {
  return {{"w", numbers({2, 1}, {0.5F, -1.0F})},
          {"w/raw", codes({2, 1}, {0x38, 0xc0})},
          {"w/scale", numbers({1}, {0.5F})}};
}

std::optional<ScaledNumbers> read_state(TensorFile const& file) {
  return scaled_numbers(file, "w", NumberFormat::fp8, {2, 1});
}

TEST(ScaledNumbersOfAFile, AreWhatIsStoredAndItsScale) {
  TensorFile const file = a_state();
  auto const found = read_state(file);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->raw, &file.at("w/raw"));
  EXPECT_EQ(found->scale, 0.5F);
  EXPECT_FALSE(read_state({})) << "a moment may be left out";
}

TEST(ScaledNumbersOfAFile, AreNotBelievedWhereAPartIsWrong) {
  WrongPart const cases[] = {
      {without_part(""), "its file has no tensor `w`"},
      {without_part("/raw"), "its file has no tensor `w/raw`"},
      {without_part("/scale"), "its file has no tensor `w/scale`"},
      {with_part("/scale", numbers({1}, {-0.5F})), "`w/scale` is -0.5; expected a number above 0"},
      {with_part("/scale", numbers({1}, {nan})), "`w/scale` is nan; expected a number above 0"},
      {with_part("/scale", numbers({1}, {infinity})),
       "`w/scale` is inf; expected a number above 0"},
      {with_part("/scale", numbers({1}, {0})), "`w/scale` is 0; expected a number above 0"},
      {with_part("/scale", numbers({2}, {0.5F, 0.5F})),
       "`w/scale` has the shape [2]; expected [1]"},
      {with_part("/scale", codes({1}, {0x38})), "`w/scale` is U8; expected F32"},
      {with_part("/raw", numbers({2, 1}, {1, -2})), "`w/raw` is F32; expected U8"},
      {with_part("/raw", codes({2}, {0x38, 0xc0})), "`w/raw` has the shape [2]; expected [2, 1]"},
      {with_part("", codes({2, 1}, {0x38, 0xc0})), "`w` is U8; expected F32"},
      {with_part("", numbers({2, 1}, {0.5F, -1.5F})),
       "`w` is -0x1.8p+0 at element 1; expected raw times scale, -0x1p+0"},
  };
  for (auto const& [change, text] : cases)
    EXPECT_EQ(complaint_of(a_state(), change, read_state), text);
}

ParameterSpec quantised_parameter(Recipe recipe, Extent shape) {
  ParameterSpec spec{.name = "w", .shape = std::move(shape)};
  spec.formats.recipe = recipe;
  spec.formats.main = NumberFormat::fp32;
  return spec;
}

/// Of one row of four.
TensorFile a_delayed_row() {
  return {{"w", numbers({1, 4}, {1, 2, 1, 2})},
          {"w/raw", codes({1, 4}, {0x38, 0x40, 0x38, 0x40})},
          {"w/scale", numbers({1}, {1})},
          {"w/history", numbers({16}, std::vector<float>(16, 2))},
          {"w/next_scale", numbers({1}, {224})}};
}

std::shared_ptr<QuantisedShard const> read_delayed(TensorFile const& file) {
  return quantised_rows(file, "w", quantised_parameter(Recipe::fp8_delayed, {2, 4}), {1, 4});
}

TEST(QuantisedRowsOfAFile, AreCodesScalesAndWhatTheRecipeKeeps) {
  auto const found = read_delayed(a_delayed_row());
  EXPECT_EQ(found->codes, (std::vector<std::uint8_t>{0x38, 0x40, 0x38, 0x40}));
  EXPECT_EQ(found->scales, std::vector<float>{1});
  EXPECT_EQ(found->delayed.history.back(), 2);
  EXPECT_EQ(found->delayed.next, 224);
}

TEST(QuantisedRowsOfAFile, AreNotBelievedWhereAPartIsWrong) {
  WrongPart const cases[] = {
      {without_part("/raw"), "its file has no tensor `w/raw`"},
      {without_part("/scale"), "its file has no tensor `w/scale`"},
      {without_part("/history"), "its file has no tensor `w/history`"},
      {without_part("/next_scale"), "its file has no tensor `w/next_scale`"},
      {with_part("/raw", numbers({1, 4}, {1, 2, 1, 2})), "`w/raw` is F32; expected U8"},
      {with_part("/raw", codes({2, 4}, std::vector<std::uint8_t>(8))),
       "`w/raw` has the shape [2, 4]; expected [1, 4]"},
      {with_part("/scale", numbers({1}, {nan})), "`w/scale` is nan; expected a number above 0"},
      {with_part("/history", numbers({16}, std::vector<float>(16, -1))),
       "`w/history` is -1; expected a number not below 0"},
      {with_part("/history", numbers({15}, std::vector<float>(15))),
       "`w/history` has the shape [15]; expected [16]"},
      {with_part("/next_scale", numbers({1}, {-1})),
       "`w/next_scale` is -1; expected a number above 0"},
  };
  for (auto const& [change, text] : cases)
    EXPECT_EQ(complaint_of(a_delayed_row(), change, read_delayed), text);
}

TEST(QuantisedRowsOfAFile, HaveScalesOfTheirOwnInMxfp8) {
  ParameterSpec const spec = quantised_parameter(Recipe::mxfp8, {32, 64});
  TensorFile file{{"w", numbers({2, 64}, std::vector<float>(128))},
                  {"w/raw", codes({2, 64}, std::vector<std::uint8_t>(128))},
                  {"w/scale", codes({2, 2}, {0, 127, 128, 254})}};
  auto const found = quantised_rows(file, "w", spec, {2, 64});
  EXPECT_EQ(found->scale_codes, (std::vector<std::uint8_t>{0, 127, 128, 254}));
  EXPECT_EQ(found->scales[1], 1);
  auto const read = [&](TensorFile const& of) { return quantised_rows(of, "w", spec, {2, 64}); };
  EXPECT_EQ(complaint_of(file, with_part("/scale", codes({2, 2}, {0, 0, 255, 0})), read),
            "`w/scale` is the code 255; expected 0 to 254");
  EXPECT_EQ(
      complaint_of(file, with_part("/scale", codes({32, 2}, std::vector<std::uint8_t>(64))), read),
      "`w/scale` has the shape [32, 2]; expected [2, 2]");
}

TEST(QuantisedRowsOfAFile, ShareBytesInNvfp4) {
  ParameterSpec const spec = quantised_parameter(Recipe::nvfp4, {16, 16});
  TensorFile file{{"w", numbers({1, 16}, std::vector<float>(16))},
                  {"w/raw", codes({1, 8}, {0x21, 0, 0, 0, 0, 0, 0, 0xf7})},
                  {"w/scale", codes({1, 1}, {0x38})},
                  {"w/amax", numbers({1}, {2688})}};
  auto const found = quantised_rows(file, "w", spec, {1, 16});
  EXPECT_EQ(found->codes[0], 1);
  EXPECT_EQ(found->codes[1], 2);
  EXPECT_EQ(found->codes[15], 0xf);
  EXPECT_EQ(found->scales, std::vector<float>{1});
  auto const read = [&](TensorFile const& of) { return quantised_rows(of, "w", spec, {1, 16}); };
  EXPECT_EQ(complaint_of(file, without_part("/amax"), read), "its file has no tensor `w/amax`");
  EXPECT_EQ(complaint_of(file, with_part("/amax", numbers({1}, {nan})), read),
            "`w/amax` is nan; expected a number not below 0");
  EXPECT_EQ(complaint_of(file, with_part("/scale", codes({1, 1}, {0x80})), read),
            "`w/scale` is the code 128; expected 0 to 126");
}

}  // namespace
}  // namespace adamant::scenarios
