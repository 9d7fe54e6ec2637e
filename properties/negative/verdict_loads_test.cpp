// What the verdict must report of loads after damage and crashes, of a world that is made by hand.
// Beside each stands a near miss, which must stay silent.
#include "properties/negative/verdict_fixture.h"

namespace adamant::properties {
namespace {

using scenarios::DamagedFiles;
using scenarios::EngineFailure;
using scenarios::Fault;
using scenarios::Primitive;

class VerdictReportsOnLoads : public VerdictReports {
 protected:
  VerdictReportsOnLoads() { EXPECT_EQ(started(), silent); }

  Laws refused(char const* reason, int rank = 0) {
    EngineFailure failure;
    failure.rank = rank;
    failure.reason = reason;
    verdict_.refused(load_, failure, nullptr);
    return reported();
  }
  Laws loaded_after(DamagedFiles const& damage) {
    EXPECT_EQ(after(save_), silent);
    verdict_.damaged(load_, damage);
    return after(load_);
  }

  /// Saved with one rate; and again with another one, in a save that crashes.
  void save_twice() {
    EXPECT_EQ(after(save_), silent);
    show_rate(*other_rate_.lr);
    EXPECT_EQ(after({.what = scenarios::resolved::Set{{.adam = other_rate_}}}), silent);
    verdict_.crashed(save_, false);
  }
  void show_rate(float rate) {
    for (HandmadeRank& r : world_.ranks) r.settings.learning_rate = rate;
  }

  scenarios::AdamOverride const other_rate_ = {.lr = 0.5F};
  Primitive const save_ = {.what = scenarios::Save{"a"}};
  Primitive const load_ = {.what = scenarios::resolved::Load{.checkpoint = "a"}};
  scenarios::FileDamage const flipped_ = {.file = "x", .how = Fault::Then::flip_byte};
  scenarios::FileDamage const beside_ = {
      .file = "old", .how = Fault::Then::stale_file, .beside = true};
};

TEST_F(VerdictReportsOnLoads, DamageThatIsRefusedAsSomethingElse) {
  EXPECT_EQ(after(save_), silent);
  verdict_.damaged(load_, {flipped_});
  EXPECT_EQ(refused("incompatible_checkpoint"), Laws{Law::checkpoint_integrity});
}

TEST_F(VerdictReportsOnLoads, NothingWhereDamageIsRefused) {
  EXPECT_EQ(after(save_), silent);
  verdict_.damaged(load_, {flipped_});
  EXPECT_EQ(refused("damaged_checkpoint"), silent);
}

TEST_F(VerdictReportsOnLoads, DamageThatIsNotThatOfTheFirstFile) {
  EXPECT_EQ(loaded_after({beside_, flipped_}), Laws{Law::checkpoint_integrity});
}

TEST_F(VerdictReportsOnLoads, NothingWhereNoFileOfTheSaveIsDamaged) {
  EXPECT_EQ(loaded_after({beside_, beside_}), silent);
}

TEST_F(VerdictReportsOnLoads, ASaveThatIsRefusedAlthoughNothingHappenedToIt) {
  EXPECT_EQ(after(save_), silent);
  EXPECT_EQ(refused("damaged_checkpoint"), Laws{Law::checkpoint_roundtrip});
}

TEST_F(VerdictReportsOnLoads, TheRankThatRefused) {
  EXPECT_EQ(after(save_), silent);
  refused("damaged_checkpoint", 1);
  EXPECT_EQ(verdict_.violations().front().rank, 1);
}

TEST_F(VerdictReportsOnLoads, TheRankThatRefusedDamageAsSomethingElse) {
  EXPECT_EQ(after(save_), silent);
  verdict_.damaged(load_, {flipped_});
  refused("incompatible_checkpoint", 1);
  EXPECT_EQ(verdict_.violations().front().rank, 1);
}

TEST_F(VerdictReportsOnLoads, ASaveThatHadReturnedBeforeTheCrashAndIsGone) {
  verdict_.crashed(save_, true);
  EXPECT_EQ(refused("damaged_checkpoint"), Laws{Law::checkpoint_atomic});
}

TEST_F(VerdictReportsOnLoads, NothingWhereTheFirstSaveDidNotComeToItsEnd) {
  verdict_.crashed(save_, false);
  EXPECT_EQ(refused("damaged_checkpoint"), silent);
}

TEST_F(VerdictReportsOnLoads, AnOlderSaveThatIsGoneAfterTheCrashOfASecond) {
  EXPECT_EQ(after(save_), silent);
  verdict_.crashed(save_, false);
  EXPECT_EQ(refused("damaged_checkpoint"), Laws{Law::checkpoint_atomic});
}

TEST_F(VerdictReportsOnLoads, NothingWhereASecondSaveOfOtherSettingsIsThereAfterItsCrash) {
  save_twice();
  EXPECT_EQ(after(load_), silent);
}

TEST_F(VerdictReportsOnLoads, NothingWhereTheFirstSaveIsThereAfterTheCrashOfOneOfOtherSettings) {
  save_twice();
  show_rate(AdamConfig().learning_rate);
  EXPECT_EQ(after(load_), silent);
}

TEST_F(VerdictReportsOnLoads, SettingsOfNeitherSave) {
  save_twice();
  show_rate(0.25F);
  EXPECT_EQ(after(load_), Laws{Law::checkpoint_atomic});
}

TEST_F(VerdictReportsOnLoads, NothingOfSettingsThatTheFilesDoNotCarry) {
  EXPECT_EQ(after(save_), silent);
  world_.lost = {"groups"};
  show_rate(0.25F);
  EXPECT_EQ(after(load_), silent);
}

TEST_F(VerdictReportsOnLoads, ThatALaterRankAloneHasOtherSettingsWhichTheFilesDoNotCarry) {
  EXPECT_EQ(after(save_), silent);
  world_.lost = {"groups"};
  rank(1).settings.learning_rate = 0.25F;
  EXPECT_EQ(after(load_), Laws{Law::checkpoint_roundtrip});
  EXPECT_EQ(verdict_.violations().front().rank, 1);
}

}  // namespace
}  // namespace adamant::properties
