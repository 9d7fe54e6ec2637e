"""`full_tensor()` of a quantised state fails where ranks have different numbers of rows.

DTensor pads the shorter ones, and that operation is not there. So a full state dict cannot be had.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW8bit

RANKS, ROWS = 2, 65


def run(rank: int, folder: str) -> None:
    """One rank."""
    torch.compiler.set_stance("force_eager")  # the same compiled
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(256, ROWS, bias=False)
    fully_shard(model)
    optimizer = AdamW8bit(model.parameters(), lr=0.1)
    model(torch.ones(1, 256)).sum().backward()
    optimizer.step()
    try:
        whole = StateDictOptions(full_state_dict=True)
        state = get_optimizer_state_dict(model, optimizer, options=whole)["state"]
        actual = f"a tensor of {tuple(state['weight']['exp_avg'].shape)}"
    except Exception as error:
        actual = f"{type(error).__name__}: {str(error)[:100]}"
        open(f"{folder}/defect-{rank}", "w").close()
    print(f"rank {rank}: expected a tensor of {(ROWS, 256)} or nothing, actual {actual}")
    os._exit(0)  # the other rank may wait for this one


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(any(os.path.exists(f"{place}/defect-{rank}") for rank in range(RANKS)))
