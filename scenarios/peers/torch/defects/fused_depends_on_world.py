"""The fused CPU Adam gives other bits on another number of ranks.

Its vector loop and the scalar loop for the elements that are left over round differently, and
which elements are left over depends on where the shards end. The other implementations agree.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard


def run(rank: int, ranks: int, folder: str, fused: bool) -> None:
    """One rank of four steps with the same gradients on any number of ranks."""
    store = f"file://{folder}/{ranks}-{fused}"
    dist.init_process_group("gloo", store, rank=rank, world_size=ranks)
    model = torch.nn.Linear(7, 13, bias=False)
    torch.nn.init.ones_(model.weight)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, fused=fused, foreach=False)
    generator = torch.Generator().manual_seed(0)
    for _ in range(4):
        gradient = torch.randint(-512, 513, (13, 7), generator=generator) / 512
        (model(torch.eye(7)) * gradient.T).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    second = optimizer.state[model.weight]["exp_avg_sq"].full_tensor()
    if rank == 0 and ranks == 1:
        torch.save(second, f"{folder}/one-{fused}")
    elif rank == 0:
        one = torch.load(f"{folder}/one-{fused}")
        others = int((one != second).sum())
        worst = ((one - second).abs() / one).max().item()
        print(
            f"fused {fused}: exp_avg_sq of {ranks} ranks against one: expected 0 of "
            f"{one.numel()} elements differ, actual {others}, by {worst:.1e} of their value"
        )
        if others:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for fused in False, True:
            for ranks in 1, 3:
                mp.start_processes(run, (ranks, place, fused), ranks, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
