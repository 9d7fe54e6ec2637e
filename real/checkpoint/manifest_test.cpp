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
  manifest.progress.groups = {{"default", {}, 7, {"a.w", "b"}}, {"no_decay", odd, 5, {}}};
  manifest.progress.parameter_steps = {{"a.w", 7}, {"b", (std::int64_t{1} << 53) + 1}};
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
  std::string const body = R"({"format":"adamant checkpoint","version":3})";
  std::vector<std::uint32_t> const checksum = {
      crc32c(std::as_bytes(std::span(body.data(), body.size())))};
  std::string text = "{\"crc32c\":\"";
  text.append(text_of_pieces(checksum)).append("\",\"body\":").append(body).append("}\n");
  EXPECT_EQ(refusal(text),
            "m: has version 3, expected at most 2: it was written by a newer adamant");
}

TEST(Manifest, EveryPieceNeedsItsChecksum) {
  Manifest manifest = example();
  manifest.files[0].pieces.pop_back();
  EXPECT_EQ(refusal(encode(manifest)), "m: has 2 checksums of f, expected 3");
}

}  // namespace
}  // namespace adamant::real
