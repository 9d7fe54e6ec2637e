"""FSDP2's backward fails where a parameter without elements has a gradient.

The gradients of a group are concatenated by an operator that refuses empty tensors, so one such
parameter ends the backward of all; without FSDP2 it is no matter.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard

RANKS = 2


class Model(torch.nn.Module):
    """A matrix and an empty one, summed."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(4, 2))
        self.empty = torch.nn.Parameter(torch.ones(0, 2))

    def forward(self) -> torch.Tensor:
        """Return the sum of all elements."""
        return self.weight.sum() + self.empty.sum()


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    for shard in False, True:
        model = Model()
        if shard:
            fully_shard(model)
        actual = "a gradient of ones"
        try:
            model().backward()
        except RuntimeError as error:
            actual = f"RuntimeError: {error}"
        if rank == 0:
            print(f"sharded {shard}: expected a gradient of ones, actual {actual}")
            if actual != "a gradient of ones":
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
