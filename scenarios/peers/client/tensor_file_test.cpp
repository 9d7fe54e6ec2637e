#include "scenarios/peers/client/tensor_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <string>

#include "scenarios/judge/dump/safetensors.h"
#include "scenarios/peers/client/process.h"
#include "scenarios/runner/testing/scratch.h"

namespace adamant::scenarios {
namespace {

class TensorFiles : public ::testing::Test {
 protected:
  std::filesystem::path write(std::string const& header, std::string const& data) {
    auto const path = scratch_ / "file.safetensors";
    std::uint64_t const length = header.size();
    std::string text(sizeof length, '\0');
    std::memcpy(text.data(), &length, sizeof length);
    std::ofstream(path, std::ios::binary) << text << header << data;
    return path;
  }

  /// What reading such a file complains about, without its path.
  std::string complaint(std::string const& header, std::string const& data) {
    auto const path = write(header, data);
    try {
      read_tensor_file(path);
      return "";
    } catch (PeerError const& error) {
      return std::string(error.what()).substr(path.string().size() + 2);
    }
  }

  Scratch scratch_;
};

TEST_F(TensorFiles, GiveBackWhatWasWritten) {
  float const numbers[] = {1.5F, -2.0F};
  auto const path = scratch_ / "written.safetensors";
  write_safetensors(path,
                    {{.name = "a", .shape = {2, 1}, .parts = {std::as_bytes(std::span(numbers))}}});
  TensorFile const tensors = read_tensor_file(path);
  ASSERT_EQ(tensors.size(), 1U);
  TensorFromFile const& a = tensors.at("a");
  EXPECT_EQ(a.format, NumberFormat::fp32);
  EXPECT_EQ(a.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(std::memcmp(a.bytes.data(), numbers, sizeof numbers), 0);
}

TEST_F(TensorFiles, HaveNumbersThatNothingWrapsOrCutsOff) {
  auto const said = [&](std::string const& shape, std::string const& offsets = "[0, 0]") {
    return complaint(
        R"({"a": {"dtype": "F32", "shape": )" + shape + R"(, "data_offsets": )" + offsets + "}}",
        "");
  };
  EXPECT_EQ(said("[1152921504606846976, 4]"), "tensor a has the shape [1152921504606846976, 4]");
  EXPECT_NE(said("[0.5]").find("expected an integer, found 0.5"), std::string::npos);
  EXPECT_NE(said("[1e300]").find("expected an integer, found 1e+300"), std::string::npos);
  EXPECT_NE(said("[0]", "[0, -1]").find("expected an integer, found -1"), std::string::npos);
  EXPECT_EQ(complaint(std::string(20'000, '['), ""), "its header is no JSON object");
}

TEST_F(TensorFiles, MayHoldTensorsWithoutElements) {
  write(
      R"({"__metadata__": {"x": "y"}, "e": {"dtype": "BF16", "shape": [0, 3], "data_offsets": [0, 0]}})",
      "");
  TensorFile const tensors = read_tensor_file(scratch_ / "file.safetensors");
  ASSERT_EQ(tensors.size(), 1U);
  EXPECT_TRUE(tensors.at("e").bytes.empty());
}

TEST_F(TensorFiles, ThatLieAreNotBelieved) {
  EXPECT_EQ(complaint("no json", ""), "its header is no JSON object");
  EXPECT_EQ(complaint(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})", "1234"),
            "tensor a should lie at [0, 8] of 4 bytes");
  EXPECT_EQ(complaint(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}})", "1234"),
            "tensor a of shape [2] should have 8 bytes; it has 4");
  EXPECT_EQ(
      complaint(R"({"a": {"dtype": "F64", "shape": [], "data_offsets": [0, 8]}})", "12345678"),
      "tensor a has dtype F64; expected F32, BF16, F16 or U8");
  EXPECT_EQ(complaint(R"({"a": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}})", "1234"),
            "tensor a has the shape [-1]");
  EXPECT_NE(complaint(R"({"a": {"dtype": "F32", "shape": [1]}})", "1234").find("data_offsets"),
            std::string::npos);
}

TEST_F(TensorFiles, WithHeadersBeyondTheirEndAreNotBelieved) {
  auto const path = scratch_ / "short.safetensors";
  std::ofstream(path, std::ios::binary) << std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10);
  EXPECT_THROW(read_tensor_file(path), PeerError);
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "abc";
  EXPECT_THROW(read_tensor_file(path), PeerError);
  EXPECT_THROW(read_tensor_file(scratch_ / "missing"), PeerError);
}

/// As complaint(), of what lies there already.
std::string complaint_of(std::filesystem::path const& path, std::uint64_t bytes_max) {
  try {
    read_tensor_file(path, bytes_max);
    return "";
  } catch (PeerError const& error) {
    return std::string(error.what()).substr(path.string().size() + 2);
  }
}

TEST_F(TensorFiles, ThatAreNoneOrTooLargeAreRefusedUnread) {
  auto const path =
      write(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})", "1234");
  EXPECT_EQ(complaint_of(path, 1 << 20), "");
  std::filesystem::resize_file(path, std::uint64_t{1} << 40);  // nothing of it is on the disk
  EXPECT_EQ(complaint_of(path, 1 << 20),
            "expected at most 1048576 bytes; the file has 1099511627776");
  EXPECT_EQ(complaint_of(path, std::uint64_t{1} << 41),
            "its tensors end at byte 4 of 1099511627707");
  auto const pipe = scratch_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (std::filesystem::path const& none : {pipe, std::filesystem::path("/dev/zero")})
    EXPECT_EQ(complaint_of(none, 1 << 20), "expected a safetensors file; it is no regular file");
}

}  // namespace
}  // namespace adamant::scenarios
