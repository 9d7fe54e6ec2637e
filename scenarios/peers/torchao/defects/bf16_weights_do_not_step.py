"""Quantised states of bf16 weights under FSDP2 say bf16 and are fp32: the first step fails.

The states lose their type where they become the local part of a DTensor, which keeps the type of
the parameter. `float()` then does nothing, and `lerp` is told of two types.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW8bit

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One rank."""
    torch.compiler.set_stance("force_eager")  # the same compiled
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(256, 64, bias=False, dtype=torch.bfloat16)
    fully_shard(model)
    optimizer = AdamW8bit(model.parameters(), lr=0.1)
    model(torch.ones(1, 256, dtype=torch.bfloat16)).sum().backward()
    before = model.weight.to_local().clone()
    try:
        optimizer.step()
        actual = f"all moved: {bool((model.weight.to_local() != before).all())}"
    except RuntimeError as error:
        actual = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        open(f"{folder}/defect-{rank}", "w").close()
    if rank == 0:
        print("expected all moved: True")
        print(f"actual   {actual}")
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect-0"))
