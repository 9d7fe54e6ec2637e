"""What the first `fully_shard` and the first step in a process cost, paid once before ranks fork.

Nothing is left behind: the process group is PyTorch's fake one, which starts no thread that a
fork would lose and opens no connection. There is no backward: where PyTorch was built for a device,
autograd starts threads, and a process that was forked after that has no autograd.
"""

from __future__ import annotations

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.testing._internal.distributed.fake_pg import FakeStore

RANKS = 2


def warm_up() -> None:
    """Run one iteration of each implementation, so that ranks inherit what it set up."""
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
    # The name keeps it apart: PyTorch remembers rank 0's part of a shape for each equal mesh.
    mesh = init_device_mesh("cpu", (RANKS,), mesh_dim_names=("warm_up",))
    for implementation in ("single", "foreach", "fused"):
        module = nn.Linear(3, 4)
        fully_shard(module, mesh=mesh)
        optimizer = torch.optim.AdamW(
            module.parameters(),
            foreach=implementation == "foreach",
            fused=implementation == "fused",
        )
        module(torch.ones(1, 3))
        for parameter in module.parameters():
            parameter.grad = torch.zeros_like(parameter)
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimizer.step()
    dist.destroy_process_group()
