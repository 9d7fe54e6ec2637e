// One thing that is wrong with an input file: where, at which key, what was expected and found.
// Also how foreign text is shown in messages: short, in one line, without control characters.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace adamant::scenarios {

/// Units: `line` from 1; `key` is a path such as "params[0].shape", or "document" for the whole
/// file.
struct Problem {
  int line = 1;
  std::string key;
  std::string message;
};

/// Thrown inside this room where reading cannot go on; load.h turns it into a LoadError.
struct BadInput : std::runtime_error {
  explicit BadInput(Problem what_is_wrong)
      : std::runtime_error(what_is_wrong.message), problem(std::move(what_is_wrong)) {}
  Problem problem;
};

/// At most 60 bytes of `text` in back quotes, cut between characters.
std::string quote(std::string_view text);

/// The path of the value of `key` in the map at `path`, which may be empty.
std::string join_path(std::string path, std::string_view key);
/// The path of an item of the list at `path`.
std::string join_path(std::string path, std::size_t index);

}  // namespace adamant::scenarios
