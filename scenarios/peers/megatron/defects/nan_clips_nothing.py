"""A norm of gradients that is not a number leaves them unclipped.

The coefficient is compared with 1, and NaN is not below it. PyTorch multiplies by it whatever it
is, so that there every gradient shows that something is wrong.
"""

import torch
from without_gpu import device, end

with device():
    from megatron.core.optimizer.clip_grads import clip_grad_by_total_norm_fp32

    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.full((2,), 100.0)
    clip_grad_by_total_norm_fp32([weight], max_norm=1.0, total_norm=float("nan"))
    found = weight.grad.tolist()
    end("gradients [nan, nan], or not above 1", found, found != [100.0, 100.0])
