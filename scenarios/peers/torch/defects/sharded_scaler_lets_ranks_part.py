"""With ShardedGradScaler and a fused optimizer each rank decides alone whether a step is skipped.

A fused step unscales by itself, so the scaler looks for infinities in `_check_inf_per_device`,
which sums no verdicts; `unscale_` does. Under FSDP1 a rank sees its own elements alone.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

RANKS = 2


def run(rank: int, folder: str, fused: bool) -> None:
    """One rank; the gradient of the first of four elements, which is rank 0's, is infinite."""
    dist.init_process_group("gloo", f"file://{folder}/{fused}", rank=rank, world_size=RANKS)
    model = FullyShardedDataParallel(
        torch.nn.Linear(4, 1, bias=False), device_id=torch.device("cpu"), use_orig_params=True
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.0, fused=fused)
    scaler = ShardedGradScaler("cpu")
    before = torch.cat([parameter.detach().clone() for parameter in model.parameters()])
    inputs = torch.tensor([[float("inf"), 1.0, 1.0, 1.0]])
    scaler.scale(model(inputs).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    after = torch.cat([parameter.detach() for parameter in model.parameters()])
    stepped = not torch.equal(before, after)
    scale = scaler.get_scale()
    name = "fused" if fused else "single"
    print(f"{name}, rank {rank}: expected no step, scale 32768.0;", end=" ")
    print(f"actual {'a step' if stepped else 'no step'}, scale {scale}", flush=True)
    if stepped or scale != 32768.0:
        open(f"{folder}/defect-{rank}", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for fused in False, True:
            mp.start_processes(run, (place, fused), RANKS, start_method="fork")
        sys.exit(any(name.startswith("defect") for name in os.listdir(place)))
