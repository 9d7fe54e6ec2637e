#include "real/fault.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

namespace adamant::real {
namespace {

TEST(Fault, EveryFaultNamesALawOfTheContract) {
  std::set<std::string_view> const laws = {
      "values.bitwise",   "ranks.agree",          "pointers.stable",    "memory.budget",
      "access.bounds",    "access.uninitialized", "access.lifetime",    "order.race",
      "order.collective", "error.clean",          "determinism.digest",
  };
  for (FaultInfo const& fault : all_faults()) EXPECT_TRUE(laws.contains(fault.law)) << fault.name;
}

TEST(Fault, NamesAreDistinctAndDescribed) {
  std::set<std::string_view> names;
  for (FaultInfo const& fault : all_faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_GT(fault.text.size(), 20U) << fault.name;
  }
  EXPECT_GE(names.size(), 24U);
}

TEST(Fault, TheReadmeListsEveryFaultWithItsLaw) {
  std::ifstream file("real/README.md");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  for (FaultInfo const& fault : all_faults()) {
    std::string const row = "| `" + std::string(fault.name) + "` | `" + std::string(fault.law) +
                            "` | " + std::string(fault.text) + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(Fault, TheShippedEngineContainsNone) {
  static_assert(!faults_compiled);
  static_assert(!ADAMANT_FAULT(remainder_dropped));
  for (FaultInfo const& fault : all_faults()) EXPECT_FALSE(fault_is(fault.fault)) << fault.name;
}

}  // namespace
}  // namespace adamant::real
