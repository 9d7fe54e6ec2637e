#include "sim/lexer/clone_names.h"

#include <set>

#include "sim/include/clone_lists.h"

namespace adamant::sim {

#define ADAMANT_SIM_QUOTED(name) #name,

bool clone_declares(std::string_view call) {
  static std::set<std::string_view> const calls = {
      ADAMANT_SIM_CUDA_FUNCTIONS(ADAMANT_SIM_QUOTED) ADAMANT_SIM_NCCL_FUNCTIONS(
          ADAMANT_SIM_QUOTED) "cudaLaunchKernelEx"};  // whose type depends on the kernel: no list
                                                      // has it
  return calls.contains(call);
}

#undef ADAMANT_SIM_QUOTED

}  // namespace adamant::sim
