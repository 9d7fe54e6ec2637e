"""Under FSDP1 a flattened optimizer state comes back as that of another parameter, or not at all.

FSDP1 cuts a unit's parameters end to end, so a rank may have nothing of one, and then has no state
of it. Where `set_optimizer_state_dict` counts states, the following ones move up.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint.state_dict as sd
import torch.multiprocessing as mp
from torch.distributed.fsdp import FullyShardedDataParallel

RANKS = 4


class Two(torch.nn.Module):
    """Two parameters of six elements: a rank has a run of one of them, and nothing of the other."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Parameter(torch.ones(3, 2))
        self.second = torch.nn.Parameter(torch.ones(3, 2))

    def forward(self) -> torch.Tensor:
        """Return a loss of both."""
        return self.first.sum() + 2 * self.second.sum()


def run(rank: int, folder: str) -> None:
    """One rank: its optimizer's state is set to what it is."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    mesh = dist.device_mesh.init_device_mesh("cpu", (RANKS,))
    model = FullyShardedDataParallel(
        Two(), device_mesh=mesh, device_id=torch.device("cpu"), use_orig_params=True
    )
    optimizer = torch.optim.AdamW(model.parameters())
    model().backward()
    optimizer.step()
    optimizer.zero_grad()
    flat = sd.StateDictOptions(flatten_optimizer_state_dict=True)
    expected = {name: state["exp_avg"].tolist() for name, state in named(model, optimizer)}
    states = sd.get_optimizer_state_dict(model, optimizer, options=flat)
    try:
        sd.set_optimizer_state_dict(model, optimizer, states, options=flat)
        actual = {name: state["exp_avg"].tolist() for name, state in named(model, optimizer)}
    except IndexError as error:
        actual = f"IndexError: {error}"
    print(f"rank {rank}: expected {expected}, actual {actual}", flush=True)
    if actual != expected:
        open(f"{folder}/defect-{rank}", "w").close()
    dist.destroy_process_group()


def named(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> list:
    """Return the states of the parameters that this rank has elements of."""
    own = [(name, p) for name, p in model.named_parameters() if p.numel() > 0]
    return [
        (name.split(".")[-1], optimizer.state.get(p) or {"exp_avg": torch.zeros(0)})
        for name, p in own
    ]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(any(name.startswith("defect") for name in os.listdir(place)))
