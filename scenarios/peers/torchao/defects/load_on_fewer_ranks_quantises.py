"""A load on fewer ranks rounds fp32 moments to a few bits and says nothing.

Whether a state is quantised depends on how many elements one rank has. 16 rows of 256 on two ranks
are fp32; on one rank they are 4,096 elements, and what is loaded is quantised.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW4bit

SAVED_ON, LOADED_ON = 2, 1


def make() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Return a layer and an optimizer that has stepped once."""
    torch.compiler.set_stance("force_eager")  # the same compiled
    model = torch.nn.Linear(256, 16, bias=False)
    fully_shard(model)
    optimizer = AdamW4bit(model.parameters(), lr=0.1)
    model(torch.linspace(0.5, 1, 256).reshape(1, 256)).sum().backward()
    optimizer.step()
    return model, optimizer


def run(rank: int, folder: str, ranks: int) -> None:
    """One rank of the world that saves or of the one that loads."""
    dist.init_process_group("gloo", f"file://{folder}/store{ranks}", rank=rank, world_size=ranks)
    model, optimizer = make()
    state = {"optim": get_optimizer_state_dict(model, optimizer)}
    local = optimizer.state[model.weight]["exp_avg"].to_local()
    if ranks == SAVED_ON:
        if rank == 0:
            torch.save(local[0], f"{folder}/expected")
        dcp.save(state, checkpoint_id=f"{folder}/checkpoint")
    else:
        dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        expected, actual = torch.load(f"{folder}/expected"), local.dequantize()[0]
        worst = ((actual - expected).abs() / expected.abs()).max().item()
        print(f"moments of row 0: expected {expected[:4].tolist()}, or a word of another type")
        print(f"                  actual   {actual[:4].tolist()}; up to {100 * worst:.0f} % beside")
        if worst > 1e-6:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for ranks in SAVED_ON, LOADED_ON:
            mp.start_processes(run, (place, ranks), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
