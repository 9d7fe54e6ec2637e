"""Quantised states load on another world only where each cut between ranks is one between blocks.

148 rows of 128 on three ranks are 50, 50 and 48; on four they are 37 each. Row 37 begins in the
middle of a block of 256, and the load fails.
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
from torchao.optim import AdamW8bit

SAVED_ON, LOADED_ON = 3, 4


def make() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    """Return a layer and an optimizer that has stepped once."""
    torch.compiler.set_stance("force_eager")  # the same compiled
    model = torch.nn.Linear(128, 148, bias=False)
    fully_shard(model)
    optimizer = AdamW8bit(model.parameters(), lr=0.1)
    model(torch.ones(1, 128)).sum().backward()
    optimizer.step()
    return model, optimizer


def run(rank: int, folder: str, ranks: int) -> None:
    """One rank of the world that saves or of the one that loads."""
    dist.init_process_group("gloo", f"file://{folder}/store{ranks}", rank=rank, world_size=ranks)
    state = {"optim": get_optimizer_state_dict(*make())}
    if ranks == SAVED_ON:
        dcp.save(state, checkpoint_id=f"{folder}/checkpoint")
    else:
        actual = "loaded"
        try:
            dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
        except BaseException as error:
            actual = str(error).strip().splitlines()[-1]
            open(f"{folder}/defect", "w").close()
        if rank == 0:
            print("expected loaded")
            print(f"actual   {actual}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for ranks in SAVED_ON, LOADED_ON:
            mp.start_processes(run, (place, ranks), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
