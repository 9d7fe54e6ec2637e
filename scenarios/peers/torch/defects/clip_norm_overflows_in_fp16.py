"""clip_grad_norm_ sets sharded fp16 gradients to zero where their norm is above 256.

The ranks' norms are squared, summed and rooted in the gradients' type. 256 squared is infinite in
fp16, and a clip by max_norm / inf is a product with zero; below 2**-12 the norm is zero. On one
rank, where nothing is squared, the same gradients are clipped as they should be.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard


def run(rank: int, ranks: int, folder: str) -> None:
    """One rank: sixteen gradients of 100, of norm 400, clipped to 1, are 1 / 4."""
    dist.init_process_group("gloo", f"file://{folder}/{ranks}", rank=rank, world_size=ranks)
    model = torch.nn.Linear(4, 4, bias=False, dtype=torch.float16)
    fully_shard(model)
    (model(torch.eye(4, dtype=torch.float16)) * 100).sum().backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0).full_tensor()
    assert model.weight.grad is not None
    gradient = model.weight.grad.full_tensor()[0, 0]
    if rank == 0:
        print(
            f"{ranks} ranks: norm: expected 400.0, actual {norm}; "
            f"clipped gradient: expected 0.25, actual {gradient}"
        )
        if norm != 400 or gradient != 0.25:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for ranks in 1, 2:
            mp.start_processes(run, (ranks, place), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
