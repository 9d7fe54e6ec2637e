// Inputs that once ended the program, and those that fuzzing begins from.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "properties/fuzz/made_seeds.h"
#include "properties/fuzz/readers.h"
#include "properties/fuzz/room.h"

namespace adamant::properties {
namespace {

namespace fs = std::filesystem;

struct Replayed {
  int seeds = 0;
  int taken = 0;
};

Replayed replay(Reader const& reader, fs::path const& folder) {
  Replayed replayed;
  for (auto const& seed : fs::directory_iterator(folder)) {
    std::ifstream file(seed.path(), std::ios::binary);
    std::string const bytes{std::istreambuf_iterator<char>(file), {}};
    ++replayed.seeds;
    try {
      replayed.taken += reader.read(std::as_bytes(std::span(bytes))) ? 1 : 0;
    } catch (std::exception const& error) {
      ADD_FAILURE() << seed.path() << ": " << error.what();
    }
  }
  return replayed;
}

TEST(FuzzedReaders, ReadTheirSeedsOrRefuseThem) {
  for (Reader const& reader : readers) {
    auto const replayed =
        replay(reader, fs::path(ADAMANT_SOURCE_DIR "/properties/fuzz/seeds") / reader.name);
    EXPECT_GE(replayed.seeds, 5) << reader.name;
  }
}

TEST(FuzzedReaders, TakeMostOfWhatTheProgramWrites) {
  fs::path const folder = Room::of_this_process().empty_folder("seeds");
  make_seeds(folder);
  int made = 0;
  for (Reader const& reader : readers) {
    if (!fs::exists(folder / reader.name)) continue;
    auto const replayed = replay(reader, folder / reader.name);
    EXPECT_GE(replayed.taken, replayed.seeds / 2) << reader.name << ": of " << replayed.seeds;
    ++made;
  }
  EXPECT_EQ(made, 9);
}

}  // namespace
}  // namespace adamant::properties
