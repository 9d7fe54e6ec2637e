// Compiled twice: against the clone and, where one is installed, against NCCL's own header.
#include <nccl.h>

#include <cstddef>
#include <typeinfo>

#include "sim/include/adamant_sim_names.h"
#include "sim/include/clone_lists.h"
#include "sim/include/clone_table.h"

namespace adamant::sim {

CloneTable ADAMANT_NCCL_TABLE() {
  CloneTable table;
#define VALUE(name, ...) table[#name] = std::to_string(static_cast<long long>(name));
  ADAMANT_SIM_NCCL_RESULTS(VALUE)
  ADAMANT_SIM_NCCL_REDUCTIONS(VALUE)
  ADAMANT_SIM_NCCL_TYPES(VALUE)
  ADAMANT_SIM_NCCL_RESIDENCES(VALUE)
  VALUE(NCCL_VERSION_CODE)
  VALUE(NCCL_UNIQUE_ID_BYTES)
  VALUE(NCCL_SPLIT_NOCOLOR)
  VALUE(NCCL_CONFIG_UNDEF_INT)
#undef VALUE
  ncclConfig_t const config = NCCL_CONFIG_INITIALIZER;
  table["initializer"] = std::to_string(config.size) + " " + std::to_string(config.magic) + " " +
                         std::to_string(config.version) + " " + std::to_string(config.blocking) +
                         " " + std::to_string(config.nvlinkCentricSched);

#define PLACE(type, member)                                                   \
  table[#type "." #member] = std::to_string(offsetof(type, member)) + " " +   \
                             typeid(decltype(type::member)).name() + " of " + \
                             std::to_string(sizeof(type));
  ADAMANT_SIM_NCCL_MEMBERS(PLACE)
#undef PLACE
#define TYPE(entity) table[#entity] = typeid(decltype(&::entity)).name();
  ADAMANT_SIM_NCCL_FUNCTIONS(TYPE)
#undef TYPE
  return table;
}

}  // namespace adamant::sim
