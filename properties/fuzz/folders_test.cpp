// Whole runs of mutated checkpoint folders, with right sizes and checksums: loaded as the judge
// reads them, or refused by name. Folders that were taken are mutated further.
//
// ADAMANT_SOAK_CASES sets how many, ADAMANT_SOAK_SEED which.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "properties/fuzz/mutated_folders.h"
#include "properties/fuzz/readers.h"

namespace adamant::properties {
namespace {

constexpr std::size_t folders_max = 512;

std::uint64_t from_environment(char const* name, std::uint64_t usual) {
  char const* const text = std::getenv(name);
  return text == nullptr ? usual : std::stoull(text);
}

std::vector<std::string> seeds() {
  std::vector<std::string> folders;
  for (auto const& seed :
       std::filesystem::directory_iterator(ADAMANT_SOURCE_DIR "/properties/fuzz/seeds/folder")) {
    std::ifstream file(seed.path(), std::ios::binary);
    folders.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::ranges::sort(folders);  // the same cases on every machine
  return folders;
}

Bytes bytes_of(std::string const& text) {
  return std::as_bytes(std::span(text));
}

/// Was it loaded, and not refused?
bool is_taken(std::string const& folder) {
  try {
    return read_folder(bytes_of(folder));
  } catch (std::exception const& error) {
    ADD_FAILURE() << error.what() << "\n" << folder;
    return false;
  }
}

TEST(FuzzedFolders, AreLoadedAsTheyAreReadOrRefused) {
  std::uint64_t const cases = from_environment("ADAMANT_SOAK_CASES", 1000);
  sim::Prng draw(from_environment("ADAMANT_SOAK_SEED", 1));
  std::vector<std::string> folders = seeds();
  std::size_t const kept = folders.size();
  std::uint64_t taken = 0;
  for (std::uint64_t done = 0; done < cases && !HasFailure(); ++done) {
    std::string const& from = folders[draw.below(static_cast<std::uint32_t>(folders.size()))];
    auto const folder = mutated_folder(bytes_of(from), draw);
    if (!folder || !is_taken(*folder)) continue;
    ++taken;
    if (folders.size() < folders_max)
      folders.push_back(*folder);
    else
      folders[kept + draw.below(static_cast<std::uint32_t>(folders_max - kept))] = *folder;
  }
  std::cout << taken << " of " << cases << " were loaded\n";
  EXPECT_GE(3 * taken, cases);
}

}  // namespace
}  // namespace adamant::properties
