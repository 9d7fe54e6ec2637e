#include "real/checkpoint/headers.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

using Extents = std::vector<std::int64_t>;

SavedPart part_of_large_tensor() {
  return {.key = "model.w",
          .dtype = "F32",
          .shape = {2, 3},
          .offsets = {127, 128},
          .global_shape = {std::int64_t{1} << 62, 16384},
          .begin = ~std::uint64_t{0}};
}

SavedPart scalar(std::string const& key, std::string const& dtype) {
  return {.key = key, .dtype = dtype, .shape = {}, .offsets = {}, .global_shape = {}};
}

Extents list(std::span<std::int64_t const> extents) {
  return {extents.begin(), extents.end()};
}

TEST(Headers, WhatOneReadsIsWhatTheOthersHear) {
  FileHeader const headers[] = {{.file_bytes = 300, .parts = {part_of_large_tensor()}},
                                {.file_bytes = 0, .parts = {}}};
  Message message;
  tell_headers(headers, {}, message);
  ToldHeaders told(message, 0);
  ToldFile const first = told.file();
  EXPECT_EQ(first.bytes, 300U);
  ASSERT_EQ(first.parts, 1U);
  ToldPart const part = told.part();
  EXPECT_EQ(part.name, (TensorName{"model.w", "F32"}));
  EXPECT_EQ(list(part.shape), (Extents{2, 3}));
  EXPECT_EQ(list(part.offsets), (Extents{127, 128}));
  EXPECT_EQ(list(part.global_shape), (Extents{std::int64_t{1} << 62, 16384}));
  EXPECT_EQ(part.begin, ~std::uint64_t{0});
  EXPECT_EQ(told.file().parts, 0U);
  EXPECT_TRUE(told.at_end());
}

// A name is told once, and not at all where all know it. The same key with another type is another
// name.
TEST(Headers, NamesAreToldOnce) {
  FileHeader const header = {.parts = {scalar("b", "F32"), scalar("a", "F32"), scalar("a", "BF16"),
                                       scalar("a", "F32"), scalar("b", "F32")}};
  NameNumbers const known = {{{"other", "F32"}, 0}, {{"b", "F32"}, 1}};
  Message message;
  tell_headers({&header, 1}, known, message);
  ToldHeaders told(message, known.size());
  ASSERT_EQ(told.file().parts, 5U);
  std::vector<std::size_t> numbers;
  std::vector<std::optional<TensorName>> names;
  while (!told.at_end()) {
    ToldPart const part = told.part();
    numbers.push_back(part.number);
    names.push_back(part.name);
  }
  EXPECT_EQ(numbers, (std::vector<std::size_t>{1, 2, 3, 2, 1}));
  EXPECT_EQ(names, (std::vector<std::optional<TensorName>>{
                       {}, TensorName{"a", "F32"}, TensorName{"a", "BF16"}, {}, {}}));
}

TEST(HeadersDeathTest, AMessageThatIsCutIsABugInUs) {
  FileHeader const header = {.file_bytes = 300, .parts = {part_of_large_tensor()}};
  Message whole;
  tell_headers({&header, 1}, {}, whole);
  for (std::size_t size = 0; size < whole.bytes().size(); ++size) {
    Message const cut({whole.bytes().begin(), whole.bytes().begin() + std::ptrdiff_t(size)});
    ToldHeaders told(cut, 0);
    EXPECT_DEATH((static_cast<void>(told.file()), static_cast<void>(told.part())), "") << size;
  }
}

}  // namespace
}  // namespace adamant::real
