#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include "sim/include/clone_table.h"

namespace adamant::sim {
namespace {

/// Every name that begins with `prefix` and stands before an opening bracket in a file.
std::set<std::string> functions_in(std::string const& path, std::string_view prefix) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::string const text((std::istreambuf_iterator<char>(in)), {});
  std::set<std::string> names;
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix, at + 1)) {
    std::size_t const end = text.find_first_not_of(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", at);
    bool const starts = at > 0 && (text[at - 1] == ' ' || text[at - 1] == '*');
    if (starts && end != std::string::npos && text[end] == '(') {
      names.insert(text.substr(at, end - at));
    }
  }
  return names;
}

void expect_all_listed(std::set<std::string> const& names, CloneTable const& table) {
  EXPECT_GT(names.size(), 20U);
  for (std::string const& name : names) {
    EXPECT_TRUE(table.contains(name)) << name << " is missing in clone_lists.h";
  }
}

TEST(Clone, ListsEveryFunctionOfItsHeaders) {
  expect_all_listed(functions_in("sim/include/cuda_runtime_api.h", "cuda"), cloned_cuda_table());
  expect_all_listed(functions_in("sim/include/nccl.h", "nccl"), cloned_nccl_table());
}

[[maybe_unused]] void expect_equal(CloneTable const& clone, CloneTable const& installed) {
  EXPECT_EQ(clone.size(), installed.size());
  for (auto const& [name, value] : installed) {
    auto const found = clone.find(name);
    ASSERT_NE(found, clone.end()) << name;
    EXPECT_EQ(found->second, value) << name;
  }
}

TEST(Clone, AgreesWithTheInstalledToolkit) {
#ifdef ADAMANT_HAVE_TOOLKIT
  CloneTable const installed = installed_cuda_table();
  if (installed.at("CUDART_VERSION") != "13000") {
    GTEST_SKIP() << "the clone is of CUDA 13.0, installed is " << installed.at("CUDART_VERSION");
  }
  expect_equal(cloned_cuda_table(), installed);
#else
  GTEST_SKIP() << "no cuda_runtime_api.h found";
#endif
}

TEST(Clone, AgreesWithTheInstalledNccl) {
#ifdef ADAMANT_HAVE_NCCL
  CloneTable const installed = installed_nccl_table();
  if (installed.at("NCCL_VERSION_CODE") != "22809") {
    GTEST_SKIP() << "the clone is of NCCL 2.28.9, installed is "
                 << installed.at("NCCL_VERSION_CODE");
  }
  expect_equal(cloned_nccl_table(), installed);
#else
  GTEST_SKIP() << "no nccl.h found beside a toolkit";
#endif
}

}  // namespace
}  // namespace adamant::sim
