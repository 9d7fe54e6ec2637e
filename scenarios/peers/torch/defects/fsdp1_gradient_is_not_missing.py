"""Under FSDP1 a parameter that the loss does not have gets a gradient of zeros, and is stepped.

A unit's parameters are one flat tensor, which has one gradient. Weight decay and old moments move
the parameter, which torch.optim leaves alone where there is no gradient.
"""

import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import FullyShardedDataParallel


class Two(torch.nn.Module):
    """Two parameters, of which the loss has one."""

    def __init__(self) -> None:
        super().__init__()
        self.used = torch.nn.Parameter(torch.ones(2))
        self.unused = torch.nn.Parameter(torch.ones(2))

    def forward(self) -> torch.Tensor:
        """Return a loss of the first parameter."""
        return self.used.sum()


def train(model: torch.nn.Module) -> list[float]:
    """Return what a step leaves of the parameter that the loss does not have."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5, weight_decay=0.5)
    model().backward()
    optimizer.step()
    return list(model.parameters())[1].tolist()


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    expected = train(Two())
    wrapped = FullyShardedDataParallel(Two(), device_id=torch.device("cpu"), use_orig_params=True)
    actual = train(wrapped)
    dist.destroy_process_group()
    print(f"expected {expected}, as without FSDP1; actual {actual}")
    sys.exit(actual != expected)
