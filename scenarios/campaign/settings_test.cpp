#include "scenarios/campaign/settings.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "scenarios/report/output_file.h"

namespace adamant::scenarios {
namespace {

class Joining : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              (std::string("adamant_settings_") +
               testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  CampaignSettings join(std::optional<std::uint64_t> seed, std::uint64_t shards = 2,
                        std::optional<std::string> const& bug = {}) const {
    return join_campaign(folder_, seed, ::getpid(), [&](std::uint64_t seed_of_campaign) {
      return settings_of(CaseSearch(seed_of_campaign, bug, SearchEngine()), shards, {});
    });
  }
  std::string refusal(std::optional<std::uint64_t> seed, std::uint64_t shards = 2,
                      std::optional<std::string> const& bug = {}) const {
    try {
      join(seed, shards, bug);
      return {};
    } catch (CampaignError const& error) {
      return error.what();
    }
  }
  std::filesystem::path folder_;
};

TEST_F(Joining, TheFirstWritesAndOthersFind) {
  CampaignSettings const first = join(7);
  EXPECT_EQ(first.seed, 7U);
  EXPECT_EQ(read_settings(folder_), first);
  EXPECT_EQ(join(7), first);
  EXPECT_EQ(join({}), first) << "who asks for no seed takes the campaign's";
}

TEST_F(Joining, OtherSettingsAreRefusedByName) {
  join(7);
  std::string const file = (folder_ / "campaign.json").string();
  EXPECT_EQ(refusal(8), file + ": seed is 7, not 8; ask for the same, or use another directory");
  EXPECT_NE(refusal(7, 3).find("the number of shards is 2, not 3"), std::string::npos);
  EXPECT_NE(refusal(7, 2, "canary").find("bug is none, not canary"), std::string::npos);
  EXPECT_EQ(refusal(7), "");
}

TEST_F(Joining, AProgramThatDrawsOtherCasesIsRefused) {
  CampaignSettings const mine = settings_of(CaseSearch(7, {}, SearchEngine()), 2, {});
  CampaignSettings other = mine;
  other.program.commit = "0123456";
  EXPECT_NE(difference(mine, other).find("adamant's commit is "), std::string::npos);
  other = mine;
  other.first_cases[0] = other.first_cases[0] == '0' ? '1' : '0';
  EXPECT_NE(difference(mine, other).find("cases are not those"), std::string::npos);
  EXPECT_NE(settings_of(CaseSearch(8, {}, SearchEngine()), 2, {}).first_cases, mine.first_cases);
}

TEST_F(Joining, WhatIsNoCampaignIsSaid) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "campaign.json") << "{\"seed\": 7}";
  EXPECT_NE(refusal(7).find("campaign.json: does not hold the settings of a campaign"),
            std::string::npos);
  EXPECT_THROW(join_campaign("/dev/null/campaign", 1, 2, {}), CannotWrite);
}

TEST_F(Joining, ManyAtOnceWithoutASeedAgree) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t const child = ::fork();
    if (child == 0) {
      std::ofstream(folder_.string() + "." + std::to_string(i)) << join({}).seed;
      ::_exit(0);
    }
    children.push_back(child);
  }
  std::set<std::uint64_t> seeds;
  for (int i = 0; i < 8; ++i) {
    ::waitpid(children[static_cast<std::size_t>(i)], nullptr, 0);
    std::filesystem::path const said = folder_.string() + "." + std::to_string(i);
    std::uint64_t seed = 0;
    std::ifstream(said) >> seed;
    seeds.insert(seed);
    std::filesystem::remove(said);
  }
  EXPECT_EQ(seeds, std::set<std::uint64_t>{read_settings(folder_)->seed});
  std::size_t files = 0;
  for ([[maybe_unused]] auto const& file : std::filesystem::directory_iterator(folder_)) ++files;
  EXPECT_EQ(files, 1U) << "a temporary is left";
}

}  // namespace
}  // namespace adamant::scenarios
