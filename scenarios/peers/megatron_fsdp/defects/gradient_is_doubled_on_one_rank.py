"""On one rank a gradient that is communicated in another type is added to itself.

With ZeRO 2 and 3 a reduced gradient is added to the buffer. On one rank the buffer is not sharded,
so it holds the gradient already, and what is communicated is a copy of it.
"""

import torch
from torch import nn
from without_gpu import on_ranks, report, sharded


class One(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2, 4))

    def forward(self):
        return self.weight.sum()


def body(_, ranks):
    from megatron_fsdp import MixedPrecisionPolicy

    policy = MixedPrecisionPolicy(main_grads_dtype=torch.float32, grad_comm_dtype=torch.bfloat16)
    model = sharded(One(), ranks, mixed_precision_policy=policy)
    model().backward()
    (weight,) = model.parameters()
    return float(weight.grad.to_local()[0, 0])


if __name__ == "__main__":
    report(1.0, on_ranks(1, body))
