"""fully_shard_optimizer makes the optimizer's state by a step, which counts and decays weights.

The state is made for checkpoints. The step is one of gradients of zeros, but a real one: counters
are 1 afterwards, so that the first step is corrected as the second, and weight decay has moved the
main weights.
"""

import torch
from torch import nn
from without_gpu import on_ranks, report, sharded


def body(_, ranks):
    from megatron_fsdp import fully_shard_optimizer

    module = nn.Linear(4, 4, bias=False)
    nn.init.ones_(module.weight)
    model = sharded(module, ranks)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.5)
    fully_shard_optimizer(optimizer)
    (weight,) = model.parameters()
    return int(optimizer.state[weight]["step"]), float(weight.to_local()[0, 0].detach())


if __name__ == "__main__":
    report((0, 1.0), on_ranks(2, body))
