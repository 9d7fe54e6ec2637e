"""A parameter that has not had a gradient yet makes a checkpoint that cannot be loaded (192202).

The optimizer has no state for it, so none is saved; the load asks for it and finds a key missing.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def make() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Two layers; training them is left to the caller."""
    model = torch.nn.ModuleDict({"used": torch.nn.Linear(4, 4), "unused": torch.nn.Linear(4, 4)})
    fully_shard(model["used"])
    fully_shard(model["unused"])
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, optimizer = make()
    model["used"](torch.eye(4)).sum().backward()
    optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    dcp.save({"model": model_state, "optim": optimizer_state}, checkpoint_id=f"{folder}/checkpoint")

    model, optimizer = make()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optimizer_state}
    actual = "the checkpoint is loaded"
    try:
        dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        set_state_dict(
            model, optimizer, model_state_dict=model_state, optim_state_dict=optimizer_state
        )
    except (RuntimeError, dcp.api.CheckpointException) as error:
        actual = str(error).strip().splitlines()[-1]
    if rank == 0:
        print(f"expected: the checkpoint is loaded\nactual:   {actual}")
        if "loaded" not in actual:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
