"""Checkpoints by Megatron's dist_checkpointing, laid out as its training loop does.

Each save has a folder of its own, named after its number; a file beside them names the newest and
is written last. What is inside comes from `sharded_state_dict` of model and optimizer.
"""

from __future__ import annotations

import queue
from pathlib import Path
from typing import Any

import torch.distributed as dist
from megatron.core import dist_checkpointing
from megatron.core.dist_checkpointing.strategies import filesystem_async

from adamant_megatron import stand_ins

NEWEST = "latest_checkpointed_iteration.txt"


def content(ddp: Any, optimizer: Any, form: str, *, is_loading: bool) -> dict[str, Any]:
    """Return what is saved, or what a load fills."""
    metadata = {"distrib_optim_sharding_type": form}
    with stand_ins.on_device():
        model = ddp.module.sharded_state_dict()
        states = optimizer.sharded_state_dict(model, is_loading=is_loading, metadata=metadata)
    return {"model": model, "optimizer": states}


def save(ddp: Any, optimizer: Any, directory: str, form: str) -> None:
    """Write a checkpoint, together with the other ranks."""
    root = Path(directory)
    number = newest(root) + 1
    folder = root / f"iter_{number:07d}"
    dist.barrier()  # every rank has read the number
    folder.mkdir(parents=True, exist_ok=True)
    # Results of the writers come back to the process that asks for them, since nothing here is
    # asynchronous. Megatron's own queue is a server process, which outlives a rank that is killed.
    filesystem_async._results_queue = queue.Queue()
    dist_checkpointing.save(content(ddp, optimizer, form, is_loading=False), str(folder))
    dist.barrier()
    if dist.get_rank() == 0:
        (root / NEWEST).write_text(str(number))
    dist.barrier()


def load(ddp: Any, optimizer: Any, directory: str, form: str) -> None:
    """Read the newest checkpoint, together with the other ranks."""
    root = Path(directory)
    folder = root / f"iter_{newest(root):07d}"
    asked = content(ddp, optimizer, form, is_loading=True)
    found = dist_checkpointing.load(asked, str(folder))
    with stand_ins.on_device():
        ddp.module.load_state_dict(found["model"])
        optimizer.load_state_dict(found["optimizer"])


def newest(root: Path) -> int:
    """Return the number of the newest checkpoint, 0 where there is none."""
    named = root / NEWEST
    return int(named.read_text()) if named.exists() else 0
