// The calls of CUDA and NCCL that the clone's headers declare. What else begins with `cuda` or
// `nccl` is a name of the program's own.
#pragma once

#include <string_view>

namespace adamant::sim {

/// Also of what is a template there, and of launches.
bool clone_declares(std::string_view call);

}  // namespace adamant::sim
