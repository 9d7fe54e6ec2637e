"""Optimizer.load_state_dict gives moments to parameters by position, not by name (1489).

Saved from a model whose parameters stand in another order, each moment silently goes to another
parameter of the same shape.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard

RANKS = 2


def make(names: list[str]) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Parameters of ones with gradients 1 and 2, registered in the order of `names`."""
    model = torch.nn.Module()
    for name in names:
        model.register_parameter(name, torch.nn.Parameter(torch.ones(4, 2)))
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    for name, value in model.named_parameters():
        value.grad = torch.full_like(value, {"a": 1.0, "b": 2.0}[name])
    optimizer.step()
    return model, optimizer


def whole_moments(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer
) -> dict[str, torch.Tensor]:
    """Return the first moment of each parameter, by name."""
    moments = {name: optimizer.state[value]["exp_avg"] for name, value in model.named_parameters()}
    return {name: moment.full_tensor() for name, moment in moments.items()}


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model, optimizer = make(["a", "b"])
    saved = {"model": model.state_dict(), "optim": optimizer.state_dict()}
    expected = whole_moments(model, optimizer)
    dcp.save(saved, checkpoint_id=f"{folder}/checkpoint")

    model, optimizer = make(["b", "a"])
    state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
    dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optim"])
    for name, actual in whole_moments(model, optimizer).items():
        if rank == 0:
            print(f"exp_avg of {name}: expected {expected[name][0, 0]}, actual {actual[0, 0]}")
            if not torch.equal(expected[name], actual):
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
