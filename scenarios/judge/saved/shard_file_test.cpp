#include "scenarios/judge/saved/shard_file.h"

#include <gtest/gtest.h>

#include <cstring>

namespace adamant::scenarios {
namespace {

std::vector<std::byte> with_header(std::string const& text, std::uint64_t length) {
  std::vector<std::byte> file(sizeof length + text.size() + 16);
  std::memcpy(file.data(), &length, sizeof length);
  std::memcpy(file.data() + sizeof length, text.data(), text.size());
  return file;
}

void expect_no_file(std::vector<std::byte> const& bytes, std::string const& what) {
  EXPECT_THROW(boxes_in(bytes), std::exception) << what;
}

TEST(ShardFile, OnesThatAreCutShortAreRefused) {
  std::string const text = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
  std::vector<std::byte> const whole = with_header(text, text.size());
  EXPECT_EQ(boxes_in(whole).size(), 1U);
  for (std::size_t size = 0; size < whole.size(); ++size)
    expect_no_file({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)},
                   std::to_string(size));
  for (std::uint64_t const length : {text.size() + 17, ~std::size_t{0}, ~std::size_t{7}})
    expect_no_file(with_header(text, length), std::to_string(length));
}

TEST(ShardFile, HeadersThatSayWhatCannotBeAreRefused) {
  std::string const deep(20'000, '[');
  for (std::string const& shape :
       {deep, std::string("[-4]"), std::string("[4.9]"), std::string("[1e300]"), std::string("4"),
        std::string("[5]"), std::string("[4, 0]"), std::string("[9007199254740993]"),
        std::string("[1152921504606846976, 4]"), std::string("[4294967296, 4294967296, 4]")}) {
    std::string const text =
        R"({"w":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[0,16]}})";
    expect_no_file(with_header(text, text.size()), shape.substr(0, 40));
  }
  for (std::string const offsets : {"[0]", "[0,17]", "[8,4]", "[-8,8]", "[16,0]", "[0.5,16]"}) {
    std::string const text = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":)" + offsets + "}}";
    expect_no_file(with_header(text, text.size()), offsets);
  }
  for (std::string const places : {"[]", "[0,0]", "[-1]", "[1e300]", "7"}) {
    std::string const text = R"({"w":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},)"
                             R"("__metadata__":{"DCP_SHARDING_INFO":"{\"w\":{\"saved_offsets\":)" +
                             places + R"(}}"}})";
    expect_no_file(with_header(text, text.size()), places);
  }
}

}  // namespace
}  // namespace adamant::scenarios
