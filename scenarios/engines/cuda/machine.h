// What this machine has for the engine on GPUs, as numbers, and what follows from them: what is
// missing and what to do about it, and who carries the collectives of a world. Whoever has called
// CUDA cannot fork any more, so the machine is asked in a process of its own.
#pragma once

#include <string>
#include <vector>

namespace adamant::scenarios {

struct Machine {
  /// A GPU's compute capability: 90 is 9.0.
  std::vector<int> gpus = {};
  int driver = 0;          // the CUDA version that it knows: 13000 is 13.0; 0: there is none
  int runtime = 0;         // the CUDA version that this program was built with
  int nccl = 0;            // the library that was loaded: 22809 is 2.28.9
  int built_nccl = 0;      // the one that this program was built with
  std::string error = "";  // what the driver answers instead of GPUs; empty: it does answer

  friend bool operator==(Machine const&, Machine const&) = default;
};

/// In one sentence what was found, what is needed and what to do; empty where nothing is missing.
std::string lacks(Machine const& machine);
/// What there is, in one line.
std::string found(Machine const& machine);

/// On which GPU a rank is, and whether NCCL or the loop-back carries the collectives.
struct Placement {
  std::vector<int> devices = {};  // by rank
  bool loopback = false;
};

/// Ranks take GPUs in turn, as far as NCCL lets them (real/testing/shared_gpus.h); otherwise it is
/// the loop-back, and all are on the first GPU.
///
/// REQUIRES: nothing is missing.
Placement place(Machine const& machine, int ranks);

/// The most ranks of a world whose graphs are captured: with more the loop-back carries the
/// collectives, whose hosts meet in the middle of what would be captured.
int captured_ranks_max(Machine const& machine);

/// Of this process' machine; asked once.
Machine const& machine_here();

/// One line, and its inverse.
std::string to_line(Machine const& machine);
Machine machine_from(std::string const& line);

}  // namespace adamant::scenarios
