"""HybridDeviceOptimizer cannot load its own state dict where its parameters are fp32.

With `param_update_in_fp32`, as Megatron sets it, each parameter of the state is looked up among
those that have an fp32 copy. A parameter that is fp32 itself has none.
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
        param_update_in_fp32=True,
        lr=0.1,
    )
    weight.grad = torch.ones(4)
    optimizer.step()
    try:
        optimizer.load_state_dict(optimizer.state_dict())
        found = "its state dict is loaded"
    except KeyError as error:
        found = f"KeyError: {error}"
    end("its state dict is loaded", found, found == "its state dict is loaded")
