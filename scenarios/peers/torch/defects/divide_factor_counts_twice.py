"""A gradient divide factor with forced sums divides twice where a shard group has one rank.

Such a group copies instead of reducing and divides while it copies; the division that follows
forced sums comes on top. A mesh of replicas alone has such groups.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard

FACTOR = 4.0


def run(rank: int, ranks: int, folder: str) -> None:
    """One rank: gradients whose sum over the ranks is 4, divided by 4."""
    dist.init_process_group("gloo", f"file://{folder}/{ranks}", rank=rank, world_size=ranks)
    model = torch.nn.Linear(4, 4, bias=False)
    fully_shard(model)
    model.set_gradient_divide_factor(FACTOR)
    model.set_force_sum_reduction_for_comms(True)
    (model(torch.eye(4)) * (4 / ranks)).sum().backward()
    actual = model.weight.grad.full_tensor()[0, 0].item()
    if rank == 0:
        print(f"{ranks} ranks, sum 4 divided by {FACTOR}: expected 1.0, actual {actual}")
        if actual != 1:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for ranks in 2, 1:
            mp.start_processes(run, (ranks, place), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
