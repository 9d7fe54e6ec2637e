"""Checkpoints as DeepSpeed writes them: its own, and universal ones, which any world reads.

DeepSpeed's own have a file a rank, and load on as many ranks alone. Universal ones are made of them
by the converter that comes with DeepSpeed: rank 0 runs it in a process of its own after each save,
as a user would.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import torch.distributed as dist

from adamant_torch.protocol import EngineError

TAG = "native"
UNIVERSAL = "universal"
NOT_CARRIED = {"native": ["clip"], "universal": ["clip"]}


def save(engine: Any, directory: str, form: str) -> None:
    """Write a checkpoint. A collective."""
    engine.save_checkpoint(directory, tag=TAG)
    if form == UNIVERSAL:
        said = [""]
        if dist.get_rank() == 0:
            said = [convert(directory)]
        dist.broadcast_object_list(said, src=0)
        if said[0]:
            raise EngineError(f"save: the converter failed: {said[0]}")


def convert(directory: str) -> str:
    """Make a universal checkpoint of DeepSpeed's own; return the end of what went wrong."""
    target = Path(directory, UNIVERSAL)
    shutil.rmtree(target, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal"),
        *("--input_folder", str(Path(directory, TAG)), "--output_folder", str(target)),
        *("--num_extract_workers", "1", "--num_merge_workers", "1"),
    ]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if ended.returncode == 0 else ended.stderr[-500:]


def load(engine: Any, directory: str, form: str) -> None:
    """Read a checkpoint. A collective."""
    tag = UNIVERSAL if form == UNIVERSAL else TAG
    path, _ = engine.load_checkpoint(directory, tag=tag)
    if path is None:
        raise EngineError(f"load: DeepSpeed found no checkpoint in {directory}")
