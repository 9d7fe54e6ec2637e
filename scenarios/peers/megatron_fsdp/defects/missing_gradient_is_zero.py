"""A parameter that took no part in the loss is stepped, with a gradient of zeros.

Its part of the buffer is zeros and becomes its gradient, so that Adam decays its moments and moves
its weight. PyTorch's FSDP2 leaves its gradient None, and it is not stepped.
"""

import torch
from torch import nn
from without_gpu import on_ranks, report, sharded


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2, 4))
        self.b = nn.Parameter(torch.ones(2, 4))

    def forward(self, both):
        return self.a.sum() + self.b.sum() if both else self.a.sum()


def body(_, ranks):
    model = sharded(Two(), ranks)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.0)
    from megatron_fsdp import fully_shard_optimizer

    fully_shard_optimizer(optimizer)
    b = dict(model.module.named_parameters())["b"]
    seen = []
    for both in (True, False):
        model(both).backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(float(b.to_local()[0, 0].detach()))
    return seen[1] - seen[0]


if __name__ == "__main__":
    report(0.0, on_ranks(1, body))
