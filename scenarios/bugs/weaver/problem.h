// What is wrong with a bug file, as compilers say it: file:line: message.
#pragma once

#include <string>
#include <vector>

namespace adamant::bugs {

struct Problem {
  std::string file;
  int line = 1;
  std::string message;
};

using Problems = std::vector<Problem>;

}  // namespace adamant::bugs
