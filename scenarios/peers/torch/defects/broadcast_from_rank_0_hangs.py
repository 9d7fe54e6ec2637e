"""set_state_dict with broadcast_from_rank0 hangs: the other ranks wait for another broadcast.

Their dictionaries are empty, as documented, and set_state_dict takes an empty model dictionary
for "the optimizer alone": the ranks check and broadcast different things. The two setters called
one after the other work (related: 157781).
"""

import datetime
import os
import sys
import tempfile
import traceback

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.fsdp import fully_shard

RANKS = 2
PATIENCE = datetime.timedelta(seconds=5)
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


def run(rank: int, folder: str) -> None:
    """One rank; it never returns from the call but by a time-out."""
    store = f"file://{folder}/store"
    dist.init_process_group("gloo", store, rank=rank, world_size=RANKS, timeout=PATIENCE)
    model = torch.nn.Linear(4, 4)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.eye(4)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    whole = StateDictOptions(full_state_dict=True, cpu_offload=True)  # empty but on rank 0
    model_state, optimizer_state = get_state_dict(model, optimizer, options=whole)
    actual = "all ranks return"
    try:
        set_state_dict(
            model,
            optimizer,
            model_state_dict=model_state,
            optim_state_dict=optimizer_state,
            options=StateDictOptions(full_state_dict=True, broadcast_from_rank0=True),
        )
        dist.barrier()
    except RuntimeError as error:
        actual = f"rank {rank} gave up after {PATIENCE.seconds} s: {str(error)[:60]}"
        open(f"{folder}/defect", "w").close()
    print(f"rank {rank}: expected: all ranks return; actual: {actual}", flush=True)
    os._exit(0)  # the process group cannot be taken down any more


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
