"""Of two empty parameter groups set_state_dict refuses what get_state_dict returns (143828).

Groups are found by the names of their parameters; empty ones have none, and only where there is
one is it looked for by being empty.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(4, 4)
    fully_shard(model)
    groups = [{"params": []}, {"params": [], "lr": 0.5}, {"params": list(model.parameters())}]
    optimizer = torch.optim.AdamW(groups)
    model(torch.eye(4)).sum().backward()
    optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    states = {"model_state_dict": model_state, "optim_state_dict": optimizer_state}
    actual = "loaded"
    try:
        set_state_dict(model, optimizer, **states)
    except ValueError as error:
        actual = f"ValueError: {error}"
    if rank == 0:
        print(f"expected: loaded\nactual:   {actual}")
        if actual != "loaded":
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
