// The catalogue of bugs: mistakes that a programmer made, or could have made, in an engine like
// real/. Each is a file beside this one, <id>.diff; what is asked here was made of those files. It
// knows nothing of how a bug is put into an engine.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace adamant::bugs {

struct Bug {
  std::string_view id;
  std::string_view law;      // of the contract, that must break
  std::string_view source;   // the address of a public report, or "adamant"
  std::string_view symptom;  // what is done wrong, in a line
  std::string_view diff;     // the whole file
};

/// Every bug, in the order of their ids.
std::span<Bug const> catalogue();

/// The machine-made mistakes of the harness, where the program has them.
std::span<Bug const> catalogue_of_harness();

std::vector<std::string_view> ids();

/// Are they machine-made (mutants/) rather than those that people wrote down? Then any law may
/// break.
bool is_of_mutants();

/// The bug of that id, or null.
Bug const* find(std::string_view id);

}  // namespace adamant::bugs
