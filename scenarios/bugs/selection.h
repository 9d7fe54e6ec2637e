// Selects the bug that the woven engine has. It is one for the process.
#pragma once

#include <string_view>

namespace adamant::bugs {

/// Selects a bug for as long as it lives; without an id, none.
///
/// REQUIRES: no other one lives; no engine outlives it.
class Selection {
 public:
  explicit Selection(std::string_view id);
  ~Selection();
  Selection(Selection const&) = delete;
  Selection& operator=(Selection const&) = delete;
};

}  // namespace adamant::bugs
