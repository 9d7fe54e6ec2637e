"""The foreach AdamW of 16-bit parameters multiplies by betas rounded to 16 bits.

On the CPU `torch._foreach_mul_` casts its factor to the type of the tensors, `mul_` does not: the
second moment decays by 0.99609375 a step and not by 0.998, the weights by 1 - 0.00390625 and not by
1 - lr * weight_decay. The single implementation rounds the product alone.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.fsdp import fully_shard

RANKS, STEPS = 2, 100


def second_moment(foreach: bool, steps: int) -> float:
    """Return a second moment of one after steps with gradients of zero."""
    model = torch.nn.Linear(4, 4, bias=False, dtype=torch.bfloat16)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.998), foreach=foreach)
    model.weight.grad = torch.zeros_like(model.weight)
    optimizer.step()
    state = optimizer.state[model.weight]
    state["exp_avg_sq"].fill_(1.5)
    for _ in range(steps):
        optimizer.step()
    return float(state["exp_avg_sq"].full_tensor()[0, 0])


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    for steps in 1, STEPS:
        expected = second_moment(foreach=False, steps=steps)
        actual = second_moment(foreach=True, steps=steps)
        if rank == 0:
            print(
                f"second moment of 1.5 after {steps} gradients of zero: "
                f"expected {expected:.6f} (single), actual {actual:.6f} (foreach)"
            )
            if expected != actual:
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
