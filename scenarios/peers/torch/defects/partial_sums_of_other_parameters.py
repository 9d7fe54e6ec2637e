"""HSDP without the all-reduce: a gradient of one parameter is added to that of another one.

`set_requires_all_reduce(False)` keeps what was reduced within the shard group as one flat sum of a
group's gradients, without saying whose they are. The next backward adds it to the gradients that it
has itself. Where a microbatch uses other parameters, as with experts or conditional layers, these
are others; where sizes differ, the addition fails.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import fully_shard

RANKS = 2


class Model(nn.Module):
    """Two parameters, of which a call uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.zeros(4))
        self.b = nn.Parameter(torch.zeros(4))

    def forward(self, name: str, gradient: float) -> torch.Tensor:
        """Return a loss with that gradient by the parameter of that name."""
        return (getattr(self, name) * gradient).sum()


def run(rank: int, folder: str) -> None:
    """One rank: two microbatches, the first without all-reduce."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = Model()
    names = ("replicate", "shard")
    fully_shard(model, mesh=dist.init_device_mesh("cpu", (RANKS, 1), mesh_dim_names=names))
    for name, gradient, last in (("a", 1.0, False), ("b", 10.0, True)):
        model.set_requires_all_reduce(last)
        model(name, gradient).backward()
    found = [
        p.grad if p.grad is None else p.grad.full_tensor().tolist() for p in (model.a, model.b)
    ]
    if rank == 0:
        print(f"gradient of a: expected {[1.0] * 4}, actual {found[0]}")
        print(f"gradient of b: expected {[10.0] * 4}, actual {found[1]}")
        if found != [[1.0] * 4, [10.0] * 4]:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
