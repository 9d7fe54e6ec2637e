"""A load into a template of another type rounds what was saved and says nothing (187138).

Sizes are compared, types are not: fp32 moments and weights come back with 8 significant bits.
"""

import os
import sys
import tempfile
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def make(dtype: torch.dtype) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Return a layer of 1/3 and an optimizer that has not stepped yet."""
    model = torch.nn.Linear(4, 4, bias=False, dtype=dtype)
    torch.nn.init.constant_(model.weight, 1 / 3)
    fully_shard(model)
    return model, torch.optim.AdamW(model.parameters(), lr=0.1)


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, optimizer = make(torch.float32)
    model(torch.eye(4) / 3).sum().backward()
    optimizer.step()
    model_state, optimizer_state = get_state_dict(model, optimizer)
    expected = optimizer.state[model.weight]["exp_avg"].full_tensor()[0, 0]
    dcp.save({"model": model_state, "optim": optimizer_state}, checkpoint_id=f"{folder}/checkpoint")

    model, optimizer = make(torch.bfloat16)
    model_state, optimizer_state = get_state_dict(model, optimizer)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        state = {"model": model_state, "optim": optimizer_state}
        dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        set_state_dict(
            model, optimizer, model_state_dict=model_state, optim_state_dict=optimizer_state
        )
    actual = optimizer.state[model.weight]["exp_avg"].full_tensor()[0, 0]
    about_types = [str(each.message) for each in said if "dtype" in str(each.message)]
    if rank == 0:
        print(f"exp_avg[0, 0]: expected {expected.item():.9f} ({expected.dtype}) or an error")
        print(f"               actual   {actual.item():.9f} ({actual.dtype}), said: {about_types}")
        if actual.float() != expected and not about_types:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
