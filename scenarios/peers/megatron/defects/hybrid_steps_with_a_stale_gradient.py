"""HybridDeviceOptimizer steps a parameter that has no gradient with that of the step before.

What has no gradient is marked as not requiring one, but the copy on the host keeps its old
gradient, and torch's AdamW looks at the gradient alone.
"""

import torch
from without_gpu import device, end

with device():
    from megatron.core.optimizer.cpu_offloading import HybridDeviceOptimizer

    weight = torch.nn.Parameter(torch.ones(4))
    optimizer = HybridDeviceOptimizer(
        [weight],
        offload_fraction=1.0,
        cpu_optimizer_cls=torch.optim.AdamW,
        gpu_optimizer_cls=torch.optim.AdamW,
        lr=0.1,
    )
    weight.grad = torch.ones(4)
    optimizer.step()
    optimizer.zero_grad()
    before = weight.tolist()
    optimizer.step()
    end(f"weights {before}: there is no gradient", weight.tolist(), before == weight.tolist())
