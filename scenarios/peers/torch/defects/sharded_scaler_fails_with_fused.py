"""ShardedGradScaler, unscale_ (to clip, for instance) and a fused optimizer do not go together.

Its verdict has one dimension and the optimizer's step counter none, from which a fused step
subtracts the verdict. With GradScaler the same works.
"""

import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

STEPPED = "a step"


def train(kind: type) -> str:
    """Return what comes of an iteration on one rank."""
    model = torch.nn.Linear(4, 4)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    scaler = kind("cpu")
    scaler.scale(model(torch.eye(4)).sum()).backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    try:
        scaler.step(optimizer)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    return STEPPED


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    found = [train(kind) for kind in (torch.amp.GradScaler, ShardedGradScaler)]
    dist.destroy_process_group()
    print(f"expected: GradScaler {STEPPED}, ShardedGradScaler {STEPPED}")
    print(f"actual:   GradScaler {found[0]}, ShardedGradScaler {found[1]}")
    sys.exit(found != [STEPPED, STEPPED])
