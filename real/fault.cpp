#include "real/fault.h"

namespace adamant::real {

namespace {

constexpr FaultInfo faults[] = {
#define ADAMANT_FAULT_ROW(name, law, text) {Fault::name, #name, law, text},
    ADAMANT_FAULTS_OF_THE_ENGINE(ADAMANT_FAULT_ROW)
#undef ADAMANT_FAULT_ROW
};

}  // namespace

std::span<FaultInfo const> all_faults() {
  return faults;
}

#if defined(ADAMANT_FAULTS) && !defined(__CUDACC__)

namespace {
Fault selected_fault = Fault::none;
}  // namespace

void select_fault(Fault fault) {
  selected_fault = fault;
}
bool fault_is(Fault fault) {
  return selected_fault == fault;
}

#endif

}  // namespace adamant::real
