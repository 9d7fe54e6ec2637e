// What a program does not look at: errors that it drops, and memory that it never frees.
#pragma once

#include <cstdint>
#include <string>

namespace adamant::sim {

struct Runtime;

/// An error that a call returned to nobody.
struct UnseenError {
  std::string call;
  std::string error;
  bool is_last_error = false;   // so that cudaGetLastError takes it
  std::uint32_t operation = 0;  // a record, whose line is that of the call
  int program_operation = -1;
};

/// The calling rank asks for its last error, and has seen all that came before.
void see_last_error(Runtime& runtime);
/// Every error that no rank has seen is a warning (error.unseen): the run is over, or cut off.
void judge_unseen(Runtime& runtime);
/// All ranks have ended: memory that is still allocated is a warning (memory.leak).
void judge_leaks(Runtime& runtime);

}  // namespace adamant::sim
