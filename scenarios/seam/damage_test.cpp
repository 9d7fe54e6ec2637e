#include "scenarios/seam/damage.h"

#include <gtest/gtest.h>

namespace adamant::scenarios {
namespace {

std::vector<std::byte> bytes(std::string_view text) {
  auto const view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

class DamageOfTwoFiles : public ::testing::Test {
 protected:
  std::vector<std::byte> const first_ = bytes("first");
  std::vector<std::byte> const second_ = bytes("second");
  std::vector<StoredFile> const files_{{"a", first_}, {"b", second_}};
};

TEST_F(DamageOfTwoFiles, FlipsOneBitOfTheByteAsked) {
  auto const damage = damage_of(
      {.at = Fault::Where::load, .then = Fault::Then::flip_byte, .file = 1, .byte = 2}, files_, {});
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->done.file, "b");
  EXPECT_EQ(damage->bytes, bytes("sesond"));
  EXPECT_EQ(damage->done.at, 2);
}

TEST_F(DamageOfTwoFiles, CountsOnFromTheFirstFileAndByteAgain) {
  auto const damage = damage_of(
      {.at = Fault::Where::load, .then = Fault::Then::truncate, .file = 2, .byte = 6}, files_, {});
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->done.file, "a");
  EXPECT_EQ(damage->bytes, bytes("f"));
}

TEST_F(DamageOfTwoFiles, RemovesAFile) {
  auto const damage =
      damage_of({.at = Fault::Where::load, .then = Fault::Then::remove_file}, files_, {});
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->done.file, "a");
  EXPECT_FALSE(damage->bytes);
}

TEST_F(DamageOfTwoFiles, PutsBackAnOlderFileThatDiffers) {
  Fault const fault{.at = Fault::Where::load, .then = Fault::Then::stale_file, .file = 1};
  KeptFiles const older{{"a", bytes("old, too")}, {"b", bytes("old")}};
  auto const damage = damage_of(fault, files_, older);
  ASSERT_TRUE(damage);
  EXPECT_EQ(damage->done.file, "b");
  EXPECT_FALSE(damage->done.beside);
  EXPECT_EQ(damage->bytes, bytes("old"));
  auto const beside = damage_of(fault, files_, {{"a", first_}, {"c", bytes("old")}});
  EXPECT_TRUE(beside->done.beside) << "no file of the last save has its name";
  EXPECT_FALSE(damage_of(fault, files_, copy_of(files_)));
  EXPECT_FALSE(damage_of(fault, files_, {}));
}

// A manifest, say, beside tensors that are the same in both: the older save is whole again.
TEST_F(DamageOfTwoFiles, IsNoneWhereAllFilesBecomeThoseOfTheOlderSave) {
  Fault const fault{.at = Fault::Where::load, .then = Fault::Then::stale_file, .file = 1};
  EXPECT_FALSE(damage_of(fault, files_, {{"a", first_}, {"b", bytes("old")}}));
  Fault const first{.at = Fault::Where::load, .then = Fault::Then::stale_file, .file = 0};
  EXPECT_FALSE(damage_of(first, files_, {{"a", bytes("old")}, {"b", second_}}));
  EXPECT_TRUE(damage_of(first, files_, {{"a", bytes("old")}, {"b", bytes("old, too")}}));
  EXPECT_FALSE(damage_of(fault, {files_.data(), 1}, {{"a", first_}, {"b", bytes("old")}}));
  EXPECT_TRUE(damage_of(fault, files_, {{"a", first_}, {"b", bytes("old")}, {"c", bytes("lost")}}));
}

TEST_F(DamageOfTwoFiles, IsNoneWhereThereIsNothingToDamage) {
  Fault const flip{.at = Fault::Where::load, .then = Fault::Then::flip_byte};
  EXPECT_FALSE(damage_of(flip, {}, {}));
  EXPECT_FALSE(damage_of(flip, std::vector<StoredFile>{{"empty", {}}}, {}));
}

TEST(Faults, StrikeTheLoadOrSaveThatTheyName) {
  std::vector<Fault> const faults{
      {.at = Fault::Where::load, .then = Fault::Then::flip_byte, .nth = 2},
      {.at = Fault::Where::save, .then = Fault::Then::crash},
      {.at = Fault::Where::load, .then = Fault::Then::truncate, .nth = 2},
      {.at = Fault::Where::load, .then = Fault::Then::remove_file, .nth = 2}};
  auto const damage_file = [](Fault const& fault) -> std::optional<FileDamage> {
    if (fault.then == Fault::Then::truncate) return std::nullopt;  // had nothing to cut
    return FileDamage{.file = "a", .how = fault.then};
  };
  EXPECT_TRUE(damage_files(faults, 1, damage_file).empty());
  EXPECT_EQ(damage_files(faults, 2, damage_file),
            (DamagedFiles{{.file = "a", .how = Fault::Then::flip_byte},
                          {.file = "a", .how = Fault::Then::remove_file}}));
  EXPECT_EQ(crash_at(faults, 1), &faults[1]);
  EXPECT_EQ(crash_at(faults, 2), nullptr);
}

}  // namespace
}  // namespace adamant::scenarios
