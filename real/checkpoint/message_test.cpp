#include "real/checkpoint/message.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace adamant::real {
namespace {

TEST(Message, GivesNumbersOfAnySize) {
  Message message;
  std::uint64_t const numbers[] = {0,
                                   1,
                                   127,
                                   128,
                                   16383,
                                   16384,
                                   std::uint64_t{1} << 63,
                                   std::numeric_limits<std::uint64_t>::max()};
  for (std::uint64_t const number : numbers) message.add_number(number);
  Message told(message.bytes());
  for (std::uint64_t const number : numbers) EXPECT_EQ(told.take_number(), number);
  EXPECT_TRUE(told.at_end());
}

TEST(Message, TakesAByteForASmallNumber) {
  Message message;
  message.add_number(127);
  EXPECT_EQ(message.bytes().size(), 1U);
  message.add_number(128);
  EXPECT_EQ(message.bytes().size(), 3U);
}

TEST(Message, GivesWordsBetweenNumbers) {
  Message message;
  std::string const with_zero("a\0b", 3);
  message.add_word("");
  message.add_number(300);
  message.add_word(with_zero);
  message.add_word(std::string(200, 'x'));
  Message told(message.bytes());
  EXPECT_EQ(told.take_word(), "");
  EXPECT_EQ(told.take_number(), 300U);
  EXPECT_EQ(told.take_word(), with_zero);
  EXPECT_EQ(told.take_word(), std::string(200, 'x'));
  EXPECT_TRUE(told.at_end());
}

TEST(MessageDeath, AWordThatIsCutIsAMistakeOfOurs) {
  Message message;
  message.add_word("word");
  auto bytes = message.bytes();
  bytes.pop_back();
  EXPECT_DEATH(Message(bytes).take_word(), "assertion");
  EXPECT_DEATH(Message().take_number(), "assertion");
}

TEST(MessageDeath, ANumberOfMoreThan64BitsIsAMistakeOfOurs) {
  Message message;
  message.add_number(std::numeric_limits<std::uint64_t>::max());
  auto bytes = message.bytes();
  bytes.back() = std::byte{2};
  EXPECT_DEATH(Message(bytes).take_number(), "assertion");
}

}  // namespace
}  // namespace adamant::real
