"""A checkpoint loaded while gradients exist comes back without its moments (140898).

The optimizer's state to be filled is not made where a parameter has a gradient, so the load has
nothing to fill and nothing is missed: the parameters are those of the checkpoint, and the
optimizer begins anew.
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
    """Return a layer with gradients."""
    model = torch.nn.Linear(4, 4, bias=False)
    fully_shard(model)
    model(torch.eye(4)).sum().backward()
    return model, torch.optim.AdamW(model.parameters())


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, optimizer = make()
    optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optimizer_state}
    dcp.save(state, checkpoint_id=f"{folder}/checkpoint")

    model, optimizer = make()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optimizer_state}
    actual = "an error"
    try:
        dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        set_state_dict(
            model, optimizer, model_state_dict=model_state, optim_state_dict=optimizer_state
        )
        actual = f"loaded, state {sorted(optimizer.state[model.weight])}"
    except RuntimeError:
        pass
    expected = "loaded, state ['exp_avg', 'exp_avg_sq', 'step']"
    if rank == 0:
        print(f"expected: {expected}, or an error\nactual:   {actual}")
        if actual not in (expected, "an error"):
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
