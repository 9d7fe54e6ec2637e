// Whose formulas an engine steps by. The word alone: what follows from it is in oracle/ and in
// judge/.
#pragma once

#include <string_view>

namespace adamant::scenarios {

/// te:       TransformerEngine's order of operations, bit for bit (oracle/adam)
/// torch:    PyTorch's single and foreach kernels in fp32: moments bit for bit (oracle/torch)
/// interval: any order of operations, any fusing (oracle/interval)
enum class Arithmetic { te, torch, interval };

inline constexpr std::string_view name_of(Arithmetic arithmetic) {
  constexpr std::string_view names[] = {"te", "torch", "interval"};
  return names[static_cast<int>(arithmetic)];
}

}  // namespace adamant::scenarios
