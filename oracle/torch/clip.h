// What PyTorch's clip_grad_norm_ multiplies gradients by, given the norm that it found, and what
// GradScaler.unscale_ does to them: both change gradients in place. It sees numbers alone.
#pragma once

#include "oracle/types.h"

namespace adamant::oracle {

/// The factor of clip_grad_norm_ in the format of the norm, which is that of the gradients:
///
///   n1 = fl(norm + 1e-6)    r = fl(1 / n1)    coefficient = min(fl(r max_norm), 1)
///
/// A quotient of a Python number and a tensor is the tensor's reciprocal times the number, so it
/// rounds twice. A NaN norm gives NaN, an infinite one 0.
///
/// Rounding: each operation in binary32, and its result to `format`.
/// Source:   torch.nn.utils.clip_grad_norm_, Tensor.__rdiv__, torch 2.13.
float torch_clip_coefficient(float max_norm, float norm, NumberFormat format);

/// What a gradient in `format` becomes in place when it is multiplied by a factor: one product in
/// binary32, rounded to the format. The factor is the coefficient above, or fl32(1 / loss scale);
/// a factor of 1 changes nothing.
float torch_scaled(float gradient, float factor, NumberFormat format);

}  // namespace adamant::oracle
