#include "real/shard/ledger.h"

#include <gtest/gtest.h>

namespace adamant::real {
namespace {

char memory[4];

Buffer buffer(int which, std::size_t bytes, Purpose purpose) {
  return {.address = &memory[which], .bytes = bytes, .purpose = purpose};
}

TEST(Ledger, ListsLiveBuffersInTheOrderOfAllocation) {
  Ledger ledger;
  ledger.add(buffer(2, 10, Purpose::gradients));
  ledger.add(buffer(0, 20, Purpose::reduction));
  ledger.add(buffer(1, 30, Purpose::gradients));
  ledger.remove(&memory[0]);
  ASSERT_EQ(ledger.buffers().size(), 2U);
  EXPECT_EQ(ledger.buffers()[0].address, &memory[2]);
  EXPECT_EQ(ledger.buffers()[1].address, &memory[1]);
}

TEST(Ledger, CountsEachPurposeOnItsOwn) {
  Ledger ledger;
  ledger.add(buffer(0, 10, Purpose::gradients));
  ledger.add(buffer(1, 5, Purpose::exp_avg));
  EXPECT_EQ(ledger.live_bytes(Purpose::gradients), 10U);
  EXPECT_EQ(ledger.live_bytes(Purpose::exp_avg), 5U);
  EXPECT_EQ(ledger.live_bytes(Purpose::exp_avg_sq), 0U);
}

TEST(Ledger, ThePeakIsWhatWasLiveAtOnce) {
  Ledger ledger;
  ledger.add(buffer(0, 10, Purpose::reduction));
  ledger.remove(&memory[0]);
  ledger.add(buffer(1, 6, Purpose::reduction));
  ledger.add(buffer(2, 5, Purpose::reduction));
  ledger.remove(&memory[1]);
  EXPECT_EQ(ledger.peak_bytes(Purpose::reduction), 11U);
  EXPECT_EQ(ledger.live_bytes(Purpose::reduction), 5U);
}

TEST(Ledger, DeviceAndHostHavePeaksOfTheirOwn) {
  Ledger ledger;
  Buffer const on_host = {
      .address = &memory[1], .bytes = 7, .purpose = Purpose::main, .on_host = true};
  ledger.add(buffer(0, 10, Purpose::main));
  ledger.remove(&memory[0]);
  ledger.add(on_host);
  ledger.add(buffer(2, 4, Purpose::main));
  ledger.remove(&memory[1]);
  EXPECT_EQ(ledger.peak_bytes(Purpose::main), 11U);
  EXPECT_EQ(ledger.peak_bytes(Purpose::main, false), 10U);
  EXPECT_EQ(ledger.peak_bytes(Purpose::main, true), 7U);
}

TEST(LedgerDeath, FreeingWhatIsNotLiveIsAMistake) {
  Ledger ledger;
  EXPECT_DEATH(ledger.remove(&memory[0]), "found != buffers_.end");
}

TEST(LedgerDeath, AnAddressIsListedOnce) {
  Ledger ledger;
  ledger.add(buffer(0, 1, Purpose::reduction));
  EXPECT_DEATH(ledger.add(buffer(0, 1, Purpose::reduction)), "== buffers_.end");
}

}  // namespace
}  // namespace adamant::real
