"""fully_shard_optimizer fails where the first group has no parameter.

It looks there for a parameter that knows the model.
"""

import torch
from torch import nn
from without_gpu import on_ranks, report, sharded


def body(_, ranks):
    from megatron_fsdp import fully_shard_optimizer

    model = sharded(nn.Linear(4, 4, bias=False), ranks)
    groups = [{"params": [], "weight_decay": 0.0}, {"params": list(model.parameters())}]
    fully_shard_optimizer(torch.optim.AdamW(groups))
    return "an optimizer"


if __name__ == "__main__":
    report("an optimizer", on_ranks(1, body))
