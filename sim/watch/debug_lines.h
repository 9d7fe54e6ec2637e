// What debug information alone tells of the running program, be it in the program or in a file of
// its own (.gnu_debuglink, or by build-id). It knows nothing of who asks for what.
#pragma once

#include <string>

namespace adamant::sim {

/// Why no line of the running program can be told; empty where lines can.
std::string why_no_lines();

/// The linkage name of the function at an address, of a program that was stripped; empty where its
/// debug file is missing.
std::string name_in_debug_file(void const* function);

}  // namespace adamant::sim
