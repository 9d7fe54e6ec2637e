// The steps of a session, of which many are the same: a training is a few requests, over and over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/peers/script/python.h"

namespace adamant::scenarios::script {

/// A statement, or lines that stand for themselves.
struct SessionStep {
  std::string before = "";              // the call: "state = "
  python::Literal call = {};            // the number of its gradients is `gradients_number`
  std::vector<std::string> lines = {};  // instead of a call
  std::optional<std::size_t> gradients = {};

  bool is_call() const { return lines.empty(); }
};

/// What stands in a call for the number of its gradients.
inline constexpr char const* gradients_number = "{number}";

/// The same call with such a number in it.
python::Literal with_number(python::Literal call, std::size_t number);

/// Each step on a line of its own, and those that come several times in a row once, in a loop.
void write_steps(python::Code& code, std::vector<SessionStep> const& steps);

}  // namespace adamant::scenarios::script
