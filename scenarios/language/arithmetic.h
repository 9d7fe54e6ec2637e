// Whose formulas an engine steps by. The word alone: what follows from it is in oracle/ and in
// judge/formulas/.
#pragma once

namespace adamant::scenarios {

/// own_order: the oracle's, which is TransformerEngine's, bit for bit (oracle/adam); `te` in the
///            protocol
/// torch:     PyTorch's single and foreach kernels in fp32: moments bit for bit (oracle/torch)
/// torch_fused: the same of its fused kernel on whole vectors, which undoes the loss scale itself
/// interval:  any order of operations, any fusing (oracle/interval)
enum class Arithmetic { own_order, torch, torch_fused, interval };

}  // namespace adamant::scenarios
