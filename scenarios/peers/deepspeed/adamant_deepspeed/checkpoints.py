"""Checkpoints as DeepSpeed writes them: its own, and universal ones, which any world reads.

DeepSpeed's own have a file a rank, and load on as many ranks alone. Universal ones are made of them
by the converter that comes with DeepSpeed. A user runs it between two jobs; here rank 0 does so
after each save, in a process forked for it, so that nothing of it stays.
"""

from __future__ import annotations

import os
import shutil
import traceback
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch.distributed as dist

from adamant_deepspeed import around
from adamant_torch.protocol import EngineError

NATIVE, UNIVERSAL = "native", "universal"
NOT_CARRIED = ["clip"]


def save(engine: Any, directory: str, emptied: bool) -> None:
    """Write a checkpoint in both forms. A collective.

    With `emptied` nothing is left of an older one under its name.
    """
    if emptied and dist.get_rank() == 0:
        shutil.rmtree(Path(directory, NATIVE), ignore_errors=True)
    dist.barrier()
    engine.save_checkpoint(directory, tag=NATIVE, save_latest=False)
    said = [""]
    if dist.get_rank() == 0:
        said = [convert(directory)]
    dist.broadcast_object_list(said, src=0)
    if said[0]:
        raise EngineError(f"save: DeepSpeed's converter failed: {said[0]}")


def convert(directory: str) -> str:
    """Make a universal checkpoint of DeepSpeed's own; return the end of what went wrong."""
    from deepspeed.checkpoint.ds_to_universal import main

    source, target = Path(directory, NATIVE), Path(directory, UNIVERSAL)
    shutil.rmtree(target, ignore_errors=True)
    settings = Namespace(
        input_folder=str(source),
        output_folder=str(target),
        num_extract_workers=1,  # no pool of processes
        num_merge_workers=1,
        keep_temp_folder=False,
        strict=True,
        inject_missing_state=True,
    )
    try:
        main(settings)
    except Exception:
        return traceback.format_exc()[-500:]
    finally:
        Path(directory, "latest_universal").unlink(missing_ok=True)
    return ""


def load(engine: Any, directory: str, options: dict[str, str]) -> None:
    """Read a checkpoint. A collective.

    DeepSpeed's own is read where as many ranks wrote it, unless the option `checkpoints` wants
    the universal one always.
    """
    files = list(Path(directory, NATIVE).glob("*_optim_states.pt"))
    own = options["checkpoints"] == "by_world" and len(files) == dist.get_world_size()
    engine._config.load_universal_checkpoint = not own
    if own:
        read(engine, directory, NATIVE)
        return
    universal, cut = str(Path(directory, UNIVERSAL)), options["zero"] != "3"
    mended = options["universal_load"] == "mended"
    with around.mended(engine.optimizer, universal) if mended and cut else nullcontext():
        read(engine, directory, UNIVERSAL)
    if mended and not cut:
        around.settings_of_each_group(engine.optimizer, universal)


def read(engine: Any, directory: str, tag: str) -> None:
    """Let DeepSpeed load; it returns nothing where it finds nothing."""
    path, _ = engine.load_checkpoint(directory, tag=tag)
    if path is None:
        raise EngineError(f"load: DeepSpeed found no checkpoint in {os.path.basename(directory)}")
