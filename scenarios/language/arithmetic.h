// Whose formulas an engine steps by. The word alone: what follows from it is in oracle/ and in
// judge/formulas/.
#pragma once

namespace adamant::scenarios {

/// own_order: the oracle's, which is TransformerEngine's, bit for bit (oracle/adam); `te` in the
///            protocol
/// torch:     PyTorch's single and foreach kernels in fp32: moments bit for bit (oracle/torch)
/// interval:  any order of operations, any fusing (oracle/interval)
enum class Arithmetic { own_order, torch, interval };

}  // namespace adamant::scenarios
