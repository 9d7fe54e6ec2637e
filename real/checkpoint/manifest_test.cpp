#include "real/checkpoint/manifest.h"

#include <gtest/gtest.h>

#include <limits>

#include "real/checkpoint/checkpoint_error.h"
#include "real/checkpoint/crc32c.h"

namespace adamant::real {
namespace {

Manifest example() {
  Manifest manifest;
  manifest.world_size = 3;
  manifest.piece_bytes = 64;
  AdamConfig odd;
  odd.mode = AdamMode::adam;
  odd.learning_rate = 0.1F;
  odd.beta1 = 0;
  odd.beta2 = 0.99999994F;
  odd.epsilon = std::numeric_limits<float>::denorm_min();
  odd.weight_decay = std::numeric_limits<float>::max();
  odd.bias_correction = false;
  std::int64_t const most = std::int64_t{1} << 53;
  manifest.progress.groups = {{"default", {}, 7, {"a.w"}}, {"no_decay", odd, most, {"b"}}};
  manifest.progress.parameter_steps = {{"a.w", 7}, {"b", most - 1}};
  manifest.progress.numbers = {{"loss_scale", 65536}};
  manifest.tensors = {{"model.a.w", "F32", {4, 3}}, {"model.b", "BF16", {0}}};
  manifest.files = {{"f", 129, {1, 0xffffffff, 0x0123abcd}}, {"empty", 0, {}}};
  return manifest;
}

std::string refusal(std::string const& text) {
  try {
    decode_manifest(text, "m");
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

/// A manifest of this body, with the checksum that it needs.
std::string with_checksum(std::string const& body) {
  std::vector<std::uint32_t> const checksum = {
      crc32c(std::as_bytes(std::span(body.data(), body.size())))};
  std::string text = "{\"crc32c\":\"";
  return text.append(text_of_pieces(checksum)).append("\",\"body\":").append(body).append("}\n");
}

/// The refusal of the example after somebody put `now` where the first `before` was.
std::string refusal_after(std::string const& before, std::string const& now) {
  std::string const text = encode(example());
  std::string const start = R"("body":)";
  std::size_t const begin = text.find(start) + start.size();
  std::string body = text.substr(begin, text.size() - begin - 2);
  std::size_t const at = body.find(before);
  EXPECT_NE(at, std::string::npos) << before;
  return refusal(with_checksum(body.replace(at, before.size(), now)));
}

TEST(Manifest, WhatIsEncodedIsReadBack) {
  EXPECT_EQ(decode_manifest(encode(example()), "m"), example());
}

TEST(Manifest, EveryCutAndEveryChangedByteIsRefused) {
  std::string const text = encode(example());
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_NE(refusal(text.substr(0, size)), "not refused") << size;
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_NE(refusal(changed), "not refused") << at;
  }
}

TEST(Manifest, ANewerVersionIsRefused) {
  EXPECT_EQ(refusal(with_checksum(R"({"format":"adamant checkpoint","version":3})")),
            "m: has version 3, expected at most 2: it was written by a newer adamant");
}

TEST(Manifest, EveryPieceNeedsItsChecksum) {
  Manifest manifest = example();
  manifest.files[0].pieces.pop_back();
  EXPECT_EQ(refusal(encode(manifest)), "m: has 2 checksums of f, expected 3");
}

TEST(Manifest, ANumberThatCannotBeIsRefusedByName) {
  struct Case {
    std::string before;
    std::string now;
    std::string message;
  };
  std::string const of_step = ", expected a whole number from 0 to 2^53";
  std::string const of_setting = ", expected a number of at least 0 that is finite in binary32";
  std::string const of_betas = ", expected a number of at least 0 and in binary32 below 1";
  std::vector<Case> const cases = {
      {R"("step":7)", R"("step":-1)", "m: group default: step is -1" + of_step},
      {R"("step":7)", R"("step":7.5)", "m: group default: step is 7.5" + of_step},
      {R"("step":7)", R"("step":4611686018427387904)", "m: group default: step is 46"},
      {R"("step":7)", R"("step":"7")", "m: group default: step is \"7\"" + of_step},
      {R"("a.w":7)", R"("a.w":-1)", "m: parameter a.w: step is -1" + of_step},
      {R"("a.w":7)", R"("a.w":1.5)", "m: parameter a.w: step is 1.5" + of_step},
      {R"("lr":)", R"("lr":-1,"was":)", "m: group default: lr is -1" + of_setting},
      {R"("lr":)", R"("lr":1e39,"was":)", "m: group default: lr is 1e+39" + of_setting},
      {R"("lr":)", R"("lr":1e999,"was":)", "m: "},
      {R"("lr":)", R"("lr":true,"was":)", "m: group default: lr is true" + of_setting},
      {R"("eps":)", R"("eps":-1e-9,"was":)", "m: group default: eps is -1e-09" + of_setting},
      {R"("weight_decay":)", R"("weight_decay":-2,"was":)",
       "m: group default: weight_decay is -2" + of_setting},
      {R"("betas":[)", R"("betas":[1.5,)", "m: group default: betas is 1.5" + of_betas},
      {R"("betas":[)", R"("betas":[0,0.99999999999,)",
       "m: group default: betas is 0.99999999999" + of_betas},
      {R"("betas":[)", R"("betas":[-0.5,)", "m: group default: betas is -0.5" + of_betas},
      {R"("version":2)", R"("version":0)",
       "m: version is 0, expected a whole number of at least 1"},
      {R"("world_size":3)", R"("world_size":0)", "m: world_size is 0, expected a whole number"},
      {R"("piece_bytes":64)", R"("piece_bytes":0)", "m: piece_bytes is 0, expected"},
      {R"("bytes":129)", R"("bytes":-1)", "m: bytes is -1, expected"},
      {R"("shape":[4,3])", R"("shape":[4,-3])", "m: tensor model.a.w: shape is -3" + of_step},
      {R"("shape":[4,3])", R"("shape":[4.9,3])", "m: tensor model.a.w: shape is 4.9" + of_step},
      {R"("shape":[4,3])", R"("shape":[1e300])", "m: tensor model.a.w: shape is 1e+300" + of_step},
      {R"("shape":[4,3])", R"("shape":[true])", "m: "},
      {R"("shape":[4,3])", R"("shape":3)", "m: "}};
  for (Case const& each : cases)
    EXPECT_TRUE(refusal_after(each.before, each.now).starts_with(each.message))
        << refusal_after(each.before, each.now) << "\nexpected " << each.message;
}

TEST(Manifest, NestingIsRefusedAndNotFollowed) {
  EXPECT_EQ(refusal_after(R"("mode":)", R"("mode":)" + std::string(20'000, '[')),
            "m: is nested deeper than 64 lists and objects");
}

TEST(Manifest, PartsHaveNamesOfTheirOwn) {
  Manifest manifest = example();
  manifest.parts = {{"a.w", {"up", "gate"}}};
  EXPECT_EQ(decode_manifest(encode(manifest), "m"), manifest);
  for (std::vector<std::string> const& parts :
       std::vector<std::vector<std::string>>{{"up", "up"}, {"up", "up/raw"}}) {
    manifest.parts = {{"a.w", parts}};
    EXPECT_EQ(refusal(encode(manifest)),
              "m: parts of a.w: " + parts.back() + " is no name of a part, or there twice");
  }
}

TEST(Manifest, AWordThatStandsForNothingIsRefused) {
  EXPECT_EQ(refusal_after(R"("mode":"adamw")", R"("mode":"foo")"),
            "m: group default: mode is \"foo\", expected adam or adamw");
  EXPECT_EQ(refusal_after(R"("adamant checkpoint")", R"("x")"),
            "m: format is \"x\", expected adamant checkpoint");
}

TEST(Manifest, StepsThatContradictEachOtherAreRefused) {
  EXPECT_EQ(refusal_after(R"("a.w":7)", R"("a.w":8)"),
            "m: parameter a.w: step is 8, expected at most that of group default, 7");
  EXPECT_EQ(refusal_after(R"("a.w":7)", R"("v":7)"),
            "m: parameter_steps: has none of parameter a.w, expected one: group default lists it");
}

}  // namespace
}  // namespace adamant::real
