"""AdamW's first update depends on whether anyone looked at its state before (pytorch 164929).

get_optimizer_state_dict makes the state that does not exist yet by a real step with zero gradients.
That step counts: the first step of the training is then corrected as the second.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def first_update(optimizer_class: type[torch.optim.Adam], look: bool) -> torch.Tensor:
    """Return a parameter of ones after one step with gradient one, with or without a look."""
    model = torch.nn.Linear(4, 4, bias=False)
    torch.nn.init.ones_(model.weight)
    fully_shard(model)
    optimizer = optimizer_class(model.parameters(), lr=0.1, weight_decay=0.1)
    if look:
        get_optimizer_state_dict(model, optimizer)
    model(torch.eye(4)).sum().backward()
    optimizer.step()
    return model.weight.full_tensor()


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    for optimizer_class in torch.optim.AdamW, torch.optim.Adam:
        expected = first_update(optimizer_class, look=False)
        actual = first_update(optimizer_class, look=True)
        if rank == 0:
            name = optimizer_class.__name__
            print(
                f"{name}: weight[0, 0] after the first step: "
                f"expected {expected[0, 0]:.6f}, actual {actual[0, 0]:.6f}"
            )
            if not torch.equal(expected, actual):
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
