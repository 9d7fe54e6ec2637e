"""A unit of which one parameter takes no part in the loss gets no gradient at all, without a word.

The experimental `fully_shard` reduces a unit once all its parameters have a gradient. Until then
gradients lie in the whole parameters, which stay in the model, and the optimizer sees None for each
parameter of the unit.
"""

import torch
from torch import nn
from without_gpu import mesh, on_ranks, report


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2, 4))
        self.b = nn.Parameter(torch.ones(2, 4))

    def forward(self, both):
        return self.a.sum() + self.b.sum() if both else self.a.sum()


def body(_, ranks):
    from megatron_fsdp.experimental import Flat, Placements, fully_shard, fully_shard_optimizer

    model = Two()
    everywhere = {"parameter": [Flat()], "gradient": [Flat()], "optimizer": [Flat()]}
    fully_shard(model, mesh(ranks, "shard"), Placements(dp_axes=["shard"], **everywhere))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    fully_shard_optimizer(optimizer)
    weight, seen = model.a, []
    for both in (True, False):
        model(both).backward()
        optimizer.step()
        optimizer.zero_grad()
        seen.append(float(weight.to_local()[0, 0].detach()))
    return seen


if __name__ == "__main__":
    report([0.0, -1.0], on_ranks(1, body))
