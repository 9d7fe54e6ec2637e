// Compiled twice: against the clone and, where one is installed, against the toolkit.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <typeinfo>

#include "sim/include/adamant_sim_errors.h"
#include "sim/include/adamant_sim_names.h"
#include "sim/include/clone_lists.h"
#include "sim/include/clone_table.h"

namespace adamant::sim {

CloneTable ADAMANT_CUDA_TABLE() {
  CloneTable table;
#define VALUE(name, ...) table[#name] = std::to_string(static_cast<long long>(name));
  ADAMANT_SIM_CUDA_ERRORS(VALUE)
  ADAMANT_SIM_CUDA_FLAGS(VALUE)
  ADAMANT_SIM_CUDA_MEMCPY_KINDS(VALUE)
  ADAMANT_SIM_CUDA_MEMORY_TYPES(VALUE)
  ADAMANT_SIM_CUDA_MEM_POOL_ATTRS(VALUE)
  ADAMANT_SIM_CUDA_MEM_ALLOCATION_TYPES(VALUE)
  ADAMANT_SIM_CUDA_MEM_HANDLE_TYPES(VALUE)
  ADAMANT_SIM_CUDA_MEM_LOCATION_TYPES(VALUE)
  ADAMANT_SIM_CUDA_MEM_ACCESS_FLAGS(VALUE)
  ADAMANT_SIM_CUDA_CAPTURE_STATUSES(VALUE)
  ADAMANT_SIM_CUDA_CAPTURE_MODES(VALUE)
  ADAMANT_SIM_CUDA_GRAPH_NODE_TYPES(VALUE)
  ADAMANT_SIM_CUDA_LAUNCH_ATTRIBUTES(VALUE)
  ADAMANT_SIM_CUDA_DEVICE_ATTRS(VALUE)
  VALUE(CUDART_VERSION)
#undef VALUE
  table["cudaStreamLegacy"] = std::to_string(reinterpret_cast<std::size_t>(cudaStreamLegacy));
  table["cudaStreamPerThread"] = std::to_string(reinterpret_cast<std::size_t>(cudaStreamPerThread));

#define SIZE(name) \
  table[#name] = std::to_string(sizeof(name)) + " aligned " + std::to_string(alignof(name));
  ADAMANT_SIM_CUDA_STRUCTS(SIZE)
  ADAMANT_SIM_VECTOR_NAMES(SIZE)
#undef SIZE
#define PLACE(type, member)  \
  table[#type "." #member] = \
      std::to_string(offsetof(type, member)) + " " + typeid(decltype(type::member)).name();
  ADAMANT_SIM_CUDA_MEMBERS(PLACE)
#undef PLACE
#define TYPE(entity) table[#entity] = typeid(decltype(&::entity)).name();
  ADAMANT_SIM_CUDA_FUNCTIONS(TYPE)
#undef TYPE
  return table;
}

}  // namespace adamant::sim
