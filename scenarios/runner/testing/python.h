// The Python that tests start.
#pragma once

#include <cstdlib>
#include <string>

namespace adamant::scenarios {

/// $ADAMANT_PYTHON, or python3.
inline std::string python_program() {
  char const* const chosen = std::getenv("ADAMANT_PYTHON");
  return chosen == nullptr ? "python3" : chosen;
}

/// Whether it runs this line, which has no single quotes.
inline bool python_runs(std::string const& line) {
  return std::system((python_program() + " -c '" + line + "' 2>/dev/null").c_str()) == 0;
}

inline bool has_numpy() {
  static bool const known = python_runs("import numpy");
  return known;
}

inline bool has_fsdp2() {
  static bool const known = python_runs("import torch.distributed.fsdp as f; f.fully_shard");
  return known;
}
inline constexpr char const* no_fsdp2 = "no PyTorch with FSDP2 in ADAMANT_PYTHON or python3";

}  // namespace adamant::scenarios
