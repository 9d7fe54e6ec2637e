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
  VerdictReportsOnLoads() {
    save_.checkpoint = load_.checkpoint = "a";
    EXPECT_EQ(started(), silent);
  }

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

  Primitive save_ = operation(Primitive::Kind::save);
  Primitive load_ = operation(Primitive::Kind::load);
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

}  // namespace
}  // namespace adamant::properties
