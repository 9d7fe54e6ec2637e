#include "real/checkpoint/headers.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

SavedPart part_of_large_tensor() {
  return {.key = "model.w",
          .dtype = "F32",
          .shape = {2, 3},
          .offsets = {127, 128},
          .global_shape = {std::int64_t{1} << 62, 16384},
          .begin = ~std::uint64_t{0},
          .end = 0};
}

TEST(Headers, WhatOneReadsIsWhatTheOthersHear) {
  std::vector<FileHeader> const headers = {
      {.file_bytes = 300, .parts = {part_of_large_tensor(), SavedPart()}},
      {.file_bytes = 0, .parts = {}},
  };
  EXPECT_EQ(headers_of_text(text_of_headers(headers)), headers);
  EXPECT_TRUE(headers_of_text(text_of_headers({})).empty());
}

TEST(HeadersDeathTest, ATextThatIsCutIsABugInUs) {
  std::vector<FileHeader> const headers = {{.file_bytes = 300, .parts = {part_of_large_tensor()}}};
  std::string const text = text_of_headers(headers);
  EXPECT_DEATH(headers_of_text(text.substr(0, text.size() - 1)), "");
}

}  // namespace
}  // namespace adamant::real
