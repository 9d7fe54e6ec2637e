// Can the lines of a program's source be told? It knows nothing of who asks for which.
#pragma once

#include <string>

namespace adamant::sim {

/// Why no line of the running program can be told; empty where lines can.
std::string why_no_lines();

}  // namespace adamant::sim
