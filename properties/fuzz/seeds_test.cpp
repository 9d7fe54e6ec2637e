// Inputs that once ended the program, and those that fuzzing begins from.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "properties/fuzz/readers.h"

namespace adamant::properties {
namespace {

TEST(FuzzedReaders, ReadTheirSeedsOrRefuseThem) {
  for (Reader const& reader : readers) {
    std::filesystem::path const seeds =
        std::filesystem::path(ADAMANT_SOURCE_DIR "/properties/fuzz/seeds") / reader.name;
    int count = 0;
    for (auto const& seed : std::filesystem::directory_iterator(seeds)) {
      std::ifstream file(seed.path(), std::ios::binary);
      std::string const bytes{std::istreambuf_iterator<char>(file), {}};
      EXPECT_NO_THROW(reader.read(std::as_bytes(std::span(bytes)))) << seed.path();
      ++count;
    }
    EXPECT_GE(count, 5) << reader.name;
  }
}

}  // namespace
}  // namespace adamant::properties
