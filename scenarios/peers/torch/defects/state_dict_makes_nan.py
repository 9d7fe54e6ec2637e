"""Looking at an optimizer with eps 0 before its first step turns every parameter into NaN.

get_optimizer_state_dict makes the missing state by a step with zero gradients and learning rate
zero. That step divides 0 by 0 + eps and adds zero times the quotient to the parameter.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(4, 4, bias=False)
    torch.nn.init.ones_(model.weight)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), eps=0.0)
    get_optimizer_state_dict(model, optimizer)
    actual = model.weight.full_tensor()
    if rank == 0:
        print(f"parameters after a look at the optimizer: expected 1.0, actual {actual[0, 0]}")
        if not bool((actual == 1).all()):
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
