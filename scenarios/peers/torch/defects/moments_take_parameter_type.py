"""Optimizer.load_state_dict casts moments to the type of their parameter (43706).

An optimizer that keeps fp32 moments for bf16 parameters saves them whole; a load into the same
optimizer returns them in bf16, and the training goes on with 8 significant bits.
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
    """Return a bf16 layer whose optimizer was given fp32 moments of 1/3."""
    model = torch.nn.Linear(4, 4, bias=False, dtype=torch.bfloat16)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, foreach=False)
    moment = torch.full_like(model.weight, 1 / 3, dtype=torch.float32)
    optimizer.state[model.weight] = {
        "step": torch.tensor(1.0),
        "exp_avg": moment,
        "exp_avg_sq": moment.clone(),
    }
    return model, optimizer


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, optimizer = make()
    expected = optimizer.state[model.weight]["exp_avg"].full_tensor()[0, 0]
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optimizer_state}
    dcp.save(state, checkpoint_id=f"{folder}/checkpoint")

    model, optimizer = make()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    state = {"model": model_state, "optim": optimizer_state}
    dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
    set_state_dict(model, optimizer, model_state_dict=model_state, optim_state_dict=optimizer_state)
    actual = optimizer.state[model.weight]["exp_avg"].full_tensor()[0, 0]
    if rank == 0:
        print(f"exp_avg[0, 0]: expected {expected.item():.9f} ({expected.dtype})")
        print(f"               actual   {actual.item():.9f} ({actual.dtype})")
        if actual.dtype != expected.dtype:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
