"""FSDP2 fails in a backward without reduction where a unit was not used, so `accumulate` does, too.

What is accumulated is kept in the type of the reduction. Where that is another than the
parameters', each is asked for its gathered form, which one that was never gathered does not have.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RANKS = 2


class Either(torch.nn.Module):
    """Two units, of which this batch uses one."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Use the second."""
        return self.second(x)


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = Either()
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for module in [model.first, model.second, model]:
        fully_shard(module, mp_policy=policy)
    model.set_requires_gradient_sync(False)  # as accelerate's no_sync does
    try:
        model(torch.ones(1, 4)).sum().backward()
        actual = "a backward"
    except AttributeError as error:
        actual = f"{type(error).__name__}: {error}"
        open(f"{folder}/defect-{rank}", "w").close()
    if rank == 0:
        print(f"expected a backward, actual {actual}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect-0"))
