"""What scripts in plain PyTorch have around the adapter's functions; their text is put into them.

Nothing here runs in the adapter.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch.multiprocessing as mp


def exit_codes(
    run: Callable[[int, str], None], ranks: int, folder: str, seconds: float
) -> list[int | None]:
    """Start ranks; return how they ended, with None for one that did not in so many seconds."""
    mode = {"nprocs": ranks, "join": False, "start_method": "fork"}
    started = mp.start_processes(run, (folder,), **mode)  # type: ignore
    end = time.monotonic() + seconds
    for process in started.processes:
        process.join(max(0.0, end - time.monotonic()))
    codes = [process.exitcode for process in started.processes]
    for process in started.processes:
        process.kill()
    return codes
