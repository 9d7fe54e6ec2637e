"""FSDP1's HYBRID_SHARD reduces nothing where a shard group has one rank: each replica goes its way.

Where nothing is left to shard, FSDP1 takes NO_SHARD instead, whose all-reduce is over the shard
group, and so over this rank alone. The division by the number of all ranks stays.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One replica: gradients of 1 and 3, whose mean is 2."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    mesh = init_device_mesh("cpu", (RANKS, 1), mesh_dim_names=("replicate", "shard"))
    model = FullyShardedDataParallel(
        torch.nn.Linear(1, 1, bias=False),
        device_mesh=mesh,
        sharding_strategy=ShardingStrategy.HYBRID_SHARD,
        device_id=torch.device("cpu"),
        use_orig_params=True,
    )
    model(torch.tensor([[1.0 + 2 * rank]])).sum().backward()
    actual = [parameter.grad.item() for parameter in model.parameters()]
    print(f"gradient of replica {rank}: expected [2.0], actual {actual}", flush=True)
    if actual != [2.0]:
        open(f"{folder}/defect-{rank}", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(any(name.startswith("defect") for name in os.listdir(place)))
