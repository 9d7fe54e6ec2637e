"""Stochastic rounding draws from each rank's own generator: replicas with other seeds part.

Ranks are usually seeded apart, so that dropout and data differ. The weights of two replicas, which
begin alike and have the same gradients, then differ after a step, and nothing brings them together.
"""

import torch
import torch.distributed as dist
from shared import end_with_worlds
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW8bit

RANKS = 2


def run(rank: int, ranks: int, folder: str) -> bool:
    """Return whether a rank, which is one replica, sees that they differ."""
    mesh = init_device_mesh("cpu", (ranks, 1), mesh_dim_names=("replicate", "shard"))
    model = torch.nn.Linear(32, 32, bias=False, dtype=torch.bfloat16)
    torch.nn.init.constant_(model.weight, 1.0)
    fully_shard(model, mesh=mesh)
    optimizer = AdamW8bit(model.parameters(), lr=1e-3, bf16_stochastic_round=True)
    torch.manual_seed(rank)
    for _ in range(10):
        model(torch.ones(1, 32, dtype=torch.bfloat16)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    mine = model.weight.to_local().float()
    theirs = [torch.empty_like(mine) for _ in range(ranks)]
    dist.all_gather(theirs, mine)
    differ = int((theirs[0] != theirs[1]).sum())
    if rank == 0:
        print("expected 0 weights of 1024 in which two replicas differ")
        print(f"actual   {differ}, by up to {(theirs[0] - theirs[1]).abs().max().item():.4f} of 1")
    return differ > 0


if __name__ == "__main__":
    end_with_worlds(run, RANKS)
