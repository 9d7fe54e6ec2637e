"""An empty parameter group before others has no settings left after set_state_dict (143828).

The loop that looks for the saved empty group then uses its own variable, the last saved group,
and not the one found. The next step ends in a KeyError.
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
    groups = [{"params": [], "lr": 0.5}, {"params": list(model.parameters()), "lr": 0.25}]
    optimizer = torch.optim.AdamW(groups)
    model(torch.eye(4)).sum().backward()
    optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    set_state_dict(model, optimizer, model_state_dict=model_state, optim_state_dict=optimizer_state)
    actual = "a step"
    try:
        optimizer.step()
    except KeyError as error:
        actual = f"KeyError {error}, first group {optimizer.param_groups[0]}"
    if rank == 0:
        print(f"expected: a step\nactual:   {actual}")
        if actual != "a step":
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
