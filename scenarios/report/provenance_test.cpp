#include "scenarios/report/provenance.h"

#include <gtest/gtest.h>

#include <vector>

namespace adamant::scenarios {
namespace {

using Options = std::vector<std::string>;

Provenance written() {
  return {.by = {.version = "0.1.0", .commit = "6a20073"},
          .engine = "torch (python 3.11.2, torch 2.13.0)",
          .schedule = "random, seed 3",
          .digest = 0xABC,
          .checksum = 0x12};
}

/// The words behind "likely cause: ".
std::string cause_of(Provenance const& now, Options const& options = {}) {
  std::string const text = difference(written(), now, options);
  std::string const before = "likely cause: ";
  auto const at = text.find(before);
  return at == std::string::npos ? text : text.substr(at + before.size());
}

TEST(Provenance, IsReadBackFromItsComments) {
  std::string const comments = comments_of(written());
  EXPECT_EQ(comments,
            "# written by adamant 0.1.0, commit 6a20073, engine torch (python 3.11.2, torch 2.13.0)"
            ", schedule random, seed 3\n"
            "# digest 0000000000000abc\n"
            "# checksum 0000000000000012\n");
  auto const read = provenance_in("# order.race: rank 0\r\n\n" + comments + "adamant: 1\n");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(comments_of(*read), comments);
  EXPECT_EQ(difference(written(), *read, {}), "");
}

TEST(Provenance, IsOfTheHeadAloneAndWhole) {
  std::string const comments = comments_of(written());
  EXPECT_FALSE(provenance_in("adamant: 1\n" + comments).has_value()) << "below the head";
  EXPECT_FALSE(provenance_in("# digest 0000000000000abc\nadamant: 1\n").has_value());
  EXPECT_FALSE(provenance_in(comments.substr(0, comments.find("# checksum"))).has_value());
  EXPECT_FALSE(provenance_in("").has_value());
  std::string broken = comments;
  broken.replace(broken.find("abc"), 3, "xyz");
  EXPECT_FALSE(provenance_in(broken).has_value()) << "no digest";
}

TEST(Provenance, SaysTheLikelyCauseOfAnotherDigest) {
  Provenance now = written();
  now.digest = 0xDEF;
  EXPECT_EQ(difference(written(), now, {}),
            "digest 0000000000000def, and 0000000000000abc when the file was written; likely cause:"
            " the digest in the file was edited, or this build or machine differs");
  EXPECT_EQ(cause_of(now, Options{"--seed 5", "--bug canary"}), "--seed 5 --bug canary");
  Provenance edited = now;
  edited.checksum = 0x13;
  EXPECT_EQ(cause_of(edited), "the file was edited");
  Provenance newer = now;
  newer.by = {.version = "0.2.0", .commit = "8756e95"};
  EXPECT_EQ(cause_of(newer),
            "this is adamant 0.2.0, and then 0.1.0; this is commit 8756e95, and then 6a20073");
  Provenance other = now;
  other.engine = "torch (python 3.11.2, torch 2.14.0)";
  EXPECT_EQ(cause_of(other),
            "engine torch (python 3.11.2, torch 2.14.0), and then torch (python 3.11.2, torch "
            "2.13.0)");
}

TEST(Provenance, OfChangedSourcesIsNotKnownByItsCommit) {
  Provenance then = written();
  then.by.commit = "6a20073-dirty";
  Provenance now = then;
  now.digest = 0xDEF;
  EXPECT_NE(
      difference(then, now, {}).find("likely cause: changes of the sources that no commit has"),
      std::string::npos);
}

// Source: draft-eastlake-fnv, test vectors for 64 bits.
TEST(Checksum, IsThePublishedOne) {
  EXPECT_EQ(checksum_of(""), 0xCBF29CE484222325U);
  EXPECT_EQ(checksum_of("a"), 0xAF63DC4C8601EC8CU);
  EXPECT_EQ(checksum_of("foobar"), 0x85944171F73967E8U);
}

}  // namespace
}  // namespace adamant::scenarios
