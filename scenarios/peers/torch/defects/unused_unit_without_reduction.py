"""Without gradient synchronisation a backward fails where a module was never called.

The types of accumulated gradients are looked at for all modules, and one that no forward has called
yet has no gathered parameter. It needs a `reduce_dtype` that is not the parameters' type.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RANKS = 2


class Model(nn.Module):
    """Two layers, of which it calls the first."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return what the first layer makes of `x`."""
        return self.used(x)


def run(rank: int, folder: str) -> None:
    """One rank: a microbatch with synchronisation, or without."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for synchronised in True, False:
        model = Model()
        for module in (model.used, model.unused, model):
            fully_shard(module, mp_policy=policy)
        model.set_requires_gradient_sync(synchronised)
        actual = "a gradient"
        try:
            model(torch.ones(2, 4)).sum().backward()
        except AttributeError as error:
            actual = f"AttributeError: {error}"
        if rank == 0:
            print(f"synchronised {synchronised}: expected a gradient, actual {actual}")
            if actual != "a gradient":
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
