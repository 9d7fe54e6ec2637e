// A directory for what a test writes.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

namespace adamant::scenarios {

/// A directory that is gone when the test is over.
class Scratch {
 public:
  Scratch() : path_(std::filesystem::temp_directory_path() / ("adamant-test-" + own_name())) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(char const* name) const { return path_ / name; }
  /// Names in it.
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (auto const& entry : std::filesystem::directory_iterator(path_))
      found.insert(entry.path().filename());
    return found;
  }

 private:
  static std::string own_name() {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-');  // as instances of a test have it
    return std::to_string(getpid()) + "-" + name;
  }
  std::filesystem::path path_;
};

}  // namespace adamant::scenarios
