#include "real/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "real/checkpoint/checkpoint_error.h"

namespace adamant::real {
namespace {

/// A file of a header with this text and so many bytes of data.
std::vector<std::byte> file_of(std::string const& json, std::size_t data_bytes) {
  std::uint64_t const length = json.size();
  std::vector<std::byte> bytes(8 + json.size() + data_bytes);
  std::memcpy(bytes.data(), &length, 8);
  std::memcpy(bytes.data() + 8, json.data(), json.size());
  return bytes;
}

class MemoryFile final : public InputFile {
 public:
  explicit MemoryFile(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset + into.size() > bytes_.size()) throw StorageError("the file ends");
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  std::vector<std::byte> bytes_;
};

SafetensorsHeader read(std::vector<std::byte> bytes) {
  MemoryFile file(std::move(bytes));
  return read_header(file, "f");
}

std::string refusal(std::vector<std::byte> bytes) {
  try {
    read(std::move(bytes));
  } catch (CheckpointError const& error) {
    EXPECT_EQ(error.kind(), CheckpointError::Kind::damaged);
    return error.what();
  }
  return "not refused";
}

std::string refusal(std::string const& json, std::size_t data_bytes) {
  return refusal(file_of(json, data_bytes));
}

TEST(Safetensors, WhatIsEncodedIsReadBack) {
  std::vector<SavedPart> parts = {
      {.key = "a", .dtype = "F32", .shape = {2, 3}, .offsets = {4, 0}, .global_shape = {6, 3}},
      {.key = "b", .dtype = "BF16", .shape = {0, 5}, .offsets = {1, 0}, .global_shape = {1, 5}},
      {.key = "c", .dtype = "F16", .shape = {}, .offsets = {}, .global_shape = {}}};
  std::vector<std::byte> bytes = encode_header(parts, {{"format", "pt"}});
  EXPECT_EQ(bytes.size() % 8, 0U);
  std::size_t const data = bytes.size();
  bytes.resize(data + 24 + 2);
  SafetensorsHeader const header = read(bytes);
  EXPECT_EQ(header.bytes, data);
  EXPECT_EQ(header.metadata, (std::map<std::string, std::string>{{"format", "pt"}}));
  ASSERT_EQ(header.parts.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(header.parts[i].key, parts[i].key);
    EXPECT_EQ(header.parts[i].dtype, parts[i].dtype);
    EXPECT_EQ(header.parts[i].shape, parts[i].shape);
    EXPECT_EQ(header.parts[i].offsets, parts[i].offsets);
    EXPECT_EQ(header.parts[i].global_shape, parts[i].global_shape);
    EXPECT_EQ(header.parts[i].begin, parts[i].begin);
    EXPECT_EQ(header.parts[i].end, parts[i].end);
  }
  EXPECT_EQ(parts[2].end, bytes.size());
}

// As the safetensors library spells them; the reader here would take any words from the writer.
TEST(Safetensors, TypesAndMembersAreSpelledAsInTheFormat) {
  EXPECT_EQ(dtype_of(NumberFormat::fp32), "F32");
  EXPECT_EQ(dtype_of(NumberFormat::bf16), "BF16");
  EXPECT_EQ(dtype_of(NumberFormat::fp16), "F16");
  std::vector<SavedPart> parts = {
      {.key = "a", .dtype = "F16", .shape = {2, 3}, .offsets = {4, 0}, .global_shape = {6, 3}}};
  std::vector<std::byte> const bytes = encode_header(parts, {{"format", "pt"}});
  std::string const text(reinterpret_cast<char const*>(bytes.data()), bytes.size());
  for (char const* const spelled :
       {R"("a":{"dtype":"F16","shape":[2,3],"data_offsets":[0,12]})", R"("__metadata__":{)",
        R"("DCP_SHARDING_INFO":"{\"a\":{\"saved_offsets\":[4,0],)", R"("format":"pt")"})
    EXPECT_NE(text.find(spelled), std::string::npos) << spelled << "\n" << text;
}

TEST(Safetensors, WithoutShardingInformationTensorsAreWhole) {
  auto const header = read(file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8));
  EXPECT_EQ(header.parts.at(0).offsets, std::vector<std::int64_t>{0});
  EXPECT_TRUE(header.parts.at(0).global_shape.empty());
}

TEST(Safetensors, SizesThatCannotBeAreRefused) {
  EXPECT_EQ(refusal(std::vector<std::byte>(7)), "f: has 7 bytes, too few for a safetensors file");
  auto huge = file_of("{}", 0);
  huge[7] = std::byte{0x7f};
  EXPECT_NE(refusal(huge).find("f: its header has 9151314442816847874 bytes, the file 10"),
            std::string::npos);
  auto short_by_one = file_of("{}", 0);
  short_by_one.pop_back();
  EXPECT_NE(refusal(short_by_one).find("f: its header has 2 bytes, the file 9"), std::string::npos);
  auto const cut = file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 7);
  EXPECT_NE(refusal(cut).find("tensor a: its data end at byte 70, the file at 69"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 9)
                .find("f: has 71 bytes, its header accounts for 70"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", 8)
                .find("tensor a: has 8 bytes, expected 12 for F32 [3]"),
            std::string::npos);
}

TEST(Safetensors, PlacesThatOverlapOrLeaveGapsAreRefused) {
  EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                    R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                    12)
                .find("data overlap"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8)
                .find("data have a gap"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[8,4]}})", 8)
                .find("data_offsets are [8, 4]"),
            std::string::npos);
}

TEST(Safetensors, TextThatIsNoHeaderIsRefused) {
  char const* const texts[] = {
      "",
      "[]",
      "{",
      "nul",
      R"({"a":1})",
      R"({"a":{}})",
      R"({"a":{"dtype":4,"shape":[],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":7,"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})",
      R"({"a":{"dtype":"F32","shape":[9007199254740993],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"X9","shape":[9007199254740992,2],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"dtype":"F32"}})",
      R"({"__metadata__":[]})",
      R"({"__metadata__":{"format":1}})",
      R"({"__metadata__":{"DCP_SHARDING_INFO":"x"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":{"DCP_SHARDING_INFO":"{}"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":{"DCP_SHARDING_INFO":"{\"a\":{}}"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
      R"({"__metadata__":{"DCP_SHARDING_INFO":"{\"a\":{\"saved_offsets\":[0,0]}}"},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
  };
  for (char const* const text : texts) {
    std::string const message = refusal(text, 4);
    EXPECT_EQ(message.substr(0, 3), "f: ") << text << "\n" << message;
  }
}

TEST(Safetensors, NestingToAnyDepthIsRefusedAndNotFollowed) {
  EXPECT_NE(refusal(std::string(200'000, '['), 0), "not refused");
  EXPECT_NE(refusal("{\"a\":" + std::string(200'000, '{'), 0), "not refused");
  auto const with_shape = [](int depth) {
    std::string const brackets(static_cast<std::size_t>(depth), '[');
    std::string const closing(static_cast<std::size_t>(depth), ']');
    return refusal(R"({"a":{"shape":)" + brackets + closing + R"(,"dtype":"F32"}})", 0);
  };
  EXPECT_EQ(with_shape(20'000), "f: header: is nested deeper than 64 lists and objects");
  EXPECT_EQ(with_shape(63), with_shape(20'000));
  EXPECT_NE(with_shape(62).find("shape has [[["), std::string::npos) << with_shape(62);
  std::string const metadata = std::string(30'000, '[') + std::string(30'000, ']');
  EXPECT_NE(refusal(R"({"__metadata__":{"DCP_SHARDING_INFO":"{\"a\":)" + metadata + R"(}"}})", 0)
                .find("DCP_SHARDING_INFO: is nested deeper"),
            std::string::npos);
}

TEST(Safetensors, BracketsInTextsAreNoNesting) {
  std::string const brackets(100, '[');
  auto const header = read(file_of(
      R"({"\")" + brackets + R"(\\":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4));
  EXPECT_EQ(header.parts.at(0).key, "\"" + brackets + "\\");
}

}  // namespace
}  // namespace adamant::real
