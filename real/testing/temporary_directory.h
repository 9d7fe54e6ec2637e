// A directory of one test, empty at first and gone at the end.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace adamant::real {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    auto const* const test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = "adamant-" + std::to_string(::getpid());
    name.append("-").append(test->test_suite_name()).append("-").append(test->name());
    for (char& letter : name)
      if (letter == '/') letter = '-';
    path_ = std::filesystem::temp_directory_path() / name;
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(TemporaryDirectory const&) = delete;
  TemporaryDirectory& operator=(TemporaryDirectory const&) = delete;

  std::string path() const { return path_.string(); }
  std::string operator/(std::string const& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace adamant::real
