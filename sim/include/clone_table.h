// One header set written out as text: every value, size, place and type that the clone shares with
// the toolkit. Two tables, made of two header sets by the same source, must be equal.
#pragma once

#include <map>
#include <string>

namespace adamant::sim {

using CloneTable = std::map<std::string, std::string>;  // by name

CloneTable cloned_cuda_table();
CloneTable cloned_nccl_table();
CloneTable installed_cuda_table();
CloneTable installed_nccl_table();

}  // namespace adamant::sim
