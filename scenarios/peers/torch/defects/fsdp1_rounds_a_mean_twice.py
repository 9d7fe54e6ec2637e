"""FSDP1 divides gradients before their sum and after it: a subnormal mean is rounded twice.

Each divisor is about the root of the number of ranks. The first is a power of two and so exact,
but for subnormal numbers, whose last bit it shifts out.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import FullyShardedDataParallel

RANKS = 2
SMALL = 2.0**-149  # the least number above zero


def run(rank: int, folder: str) -> None:
    """One rank: each has a gradient of 3, in multiples of the least number, and so has the mean."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = FullyShardedDataParallel(
        torch.nn.Linear(RANKS, 1, bias=False), device_id=torch.device("cpu"), use_orig_params=True
    )
    (model(torch.full((1, RANKS), 3 * SMALL))).sum().backward()
    actual = [value / SMALL for p in model.parameters() for value in p.grad.tolist()]
    print(f"rank {rank}: expected [3.0] of the least number, actual {actual}", flush=True)
    if actual != [3.0]:
        open(f"{folder}/defect-{rank}", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(any(name.startswith("defect") for name in os.listdir(place)))
