// Engines for tests: commands that start the fake ones in scenarios/peers/client/testing and the
// one in NumPy, and whether this machine can run them.
#pragma once

#include <string>

#include "scenarios/runner/testing/python.h"

namespace adamant::scenarios {

inline bool has_python() {
  static bool const known = python_runs("");
  return known;
}

inline std::string stub_command() {
  return "exec " + python_program() +
         " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/stub_engine.py";
}

/// The stub, misbehaving: `how` and the request, as hostile_engine.py takes them.
inline std::string hostile_command(std::string const& how) {
  return "exec " + python_program() +
         " " ADAMANT_SOURCE_DIR "/scenarios/peers/client/testing/hostile_engine.py " + how;
}

inline std::string numpy_command(std::string const& arguments = "") {
  return "exec " + python_program() + " " ADAMANT_SOURCE_DIR "/scenarios/peers/numpy " + arguments;
}

/// The one in NumPy without one thing, as lacking_engine.py calls it.
inline std::string lacking_command(std::string const& what) {
  return "exec " + python_program() +
         " " ADAMANT_SOURCE_DIR "/scenarios/peers/doctor/testing/lacking_engine.py " + what;
}

inline constexpr char const* no_python = "there is no Python 3 (ADAMANT_PYTHON names one)";
inline constexpr char const* no_numpy = "Python has no NumPy (ADAMANT_PYTHON names another)";

}  // namespace adamant::scenarios
