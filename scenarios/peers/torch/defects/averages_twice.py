"""HSDP averages over the shards and then over the replicas: two divisions, each of which rounds.

This is meant so, and is the average as long as neither rounds. Of 3 shards the sum is divided by 3
before the replicas are added; even of 2 and 2 halves of halves round twice where subnormal.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard

CASES = (  # shards, replicas, a gradient of each rank
    (3, 2, [1.0, 0.0, 0.0, 7.0, 0.0, 0.0]),
    (2, 2, [2.0**-149, 0.0, 2.0**-149, 2.0**-149]),
)


def run(rank: int, folder: str, case: int) -> None:
    """One rank."""
    shard, replicate, gradients = CASES[case]
    ranks = shard * replicate
    dist.init_process_group("gloo", f"file://{folder}/{case}", rank=rank, world_size=ranks)
    model = torch.nn.Linear(1, 1, bias=False)
    names = ("replicate", "shard")
    fully_shard(model, mesh=dist.init_device_mesh("cpu", (replicate, shard), mesh_dim_names=names))
    model(torch.full((1, 1), gradients[rank])).sum().backward()
    expected = (torch.tensor(gradients).sum() / ranks).item()
    actual = model.weight.grad.full_tensor().item()
    if rank == 0:
        print(f"{shard} shards, {replicate} replicas: expected {expected!r}, actual {actual!r}")
        if actual != expected:
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for case, (shard, replicate, _) in enumerate(CASES):
            mp.start_processes(run, (place, case), shard * replicate, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
