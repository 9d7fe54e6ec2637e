"""FSDP2 forgets the types of a module that is frozen in its first forward.

They are looked for among the parameters that require a gradient, once. When the module trains later
its gradients are reduced in the type that they have and not in `reduce_dtype`: rounded without a
word, or of a type that the parameter does not take.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RANKS = 2
NARROW = MixedPrecisionPolicy(reduce_dtype=torch.bfloat16)
WIDE = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)


def second_gradient(policy: MixedPrecisionPolicy, freezes: bool) -> str:
    """Return the gradient of a layer that may have been frozen in the forward before."""
    model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    for module in (*model, model):
        fully_shard(module, mp_policy=policy)
    x = torch.tensor([[1 + 2.0**-12]])
    for layer in model:
        nn.init.ones_(layer.weight.to_local())
    for trains in (not freezes, True):
        model[1].requires_grad_(trains)
        model.zero_grad()
        try:
            model(x).sum().backward()
        except RuntimeError as error:
            return f"RuntimeError: {error}"
    gradient = model[1].weight.grad
    return f"{gradient.full_tensor().item()!r} in {gradient.dtype}"


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    for policy in NARROW, WIDE:
        expected, actual = second_gradient(policy, False), second_gradient(policy, True)
        if rank == 0:
            print(f"{policy.reduce_dtype}: expected {expected}, actual {actual}")
            if expected != actual:
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
