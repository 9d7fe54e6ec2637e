"""Without gradient synchronisation a parameter may not be new in the last microbatch.

Accumulated gradients are kept in `reduce_dtype`, those of the last microbatch have the type of the
parameters, and the reduction of a group wants one type.
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
    """Two parameters, of which a call uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.a = nn.Parameter(torch.zeros(4))
        self.b = nn.Parameter(torch.zeros(4))

    def forward(self, name: str) -> torch.Tensor:
        """Return a loss with gradients of one by the parameter of that name."""
        return getattr(self, name).sum()


def run(rank: int, folder: str) -> None:
    """One rank: two microbatches, which use the same parameter, or one each."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for first in "b", "a":
        model = Model()
        fully_shard(model, mp_policy=policy)
        actual = "gradients"
        try:
            for name, last in ((first, False), ("b", True)):
                model.set_requires_gradient_sync(last)
                model(name).backward()
        except AssertionError as error:
            actual = f"AssertionError: {error}"
        if rank == 0:
            print(f"{first} and then b: expected gradients, actual {actual}")
            if actual != "gradients":
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
