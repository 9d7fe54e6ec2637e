"""A save over an older one removes the old metadata before it renames the new: a window of none.

A process that ends between the two leaves a directory from which nothing can be loaded, though
both checkpoints were complete. `os.replace` would do it in one step.
"""

import contextlib
import os
import signal
import sys
import tempfile
from typing import Any

import torch
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp


def save(_: int, path: str, value: float) -> None:
    """Save one tensor; of the second save the process does not survive the rename."""
    writer = dcp.FileSystemWriter(path)
    if value == 2.0:

        def rename(*_: Any) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        writer.fs.rename = rename
    dcp.save({"p": torch.full((2,), value)}, storage_writer=writer, no_dist=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/checkpoint"
        mp.start_processes(save, (path, 1.0), 1, start_method="fork")
        with contextlib.suppress(mp.ProcessExitedException):  # it is killed, as intended
            mp.start_processes(save, (path, 2.0), 1, start_method="fork")
        state = {"p": torch.zeros(2)}
        try:
            dcp.load(state, storage_reader=dcp.FileSystemReader(path), no_dist=True)
            actual = str(state["p"].tolist())
        except dcp.api.CheckpointException as error:
            actual = str(error).strip().splitlines()[-1]
        print(f"expected: [1.0, 1.0] or [2.0, 2.0]\nactual:   {actual}")
        sys.exit(actual not in ("[1.0, 1.0]", "[2.0, 2.0]"))
