"""A save waits forever where psutil is not installed, which megatron-core does not ask for.

The process that writes asks psutil how much memory it has before it begins to look for errors. It
ends with one, and the process that started it waits for its word without a bound.
"""

import multiprocessing
import os
import signal
import sys
import tempfile

sys.modules["psutil"] = None  # as if it were not there

import torch.distributed as dist  # noqa: E402
from without_gpu import device, end, join, train  # noqa: E402

SECONDS = 20


def too_late(*_):
    """Say that the save has not come back."""
    for process in multiprocessing.active_children():
        process.kill()
    end("a checkpoint, or an error", f"nothing for {SECONDS} s", False)


def main():
    """Save, with an alarm set."""
    with device():
        from megatron.core import dist_checkpointing

        join()
        model, _ = train({"weight": (4,)})
        signal.signal(signal.SIGALRM, too_late)
        signal.alarm(SECONDS)
        with tempfile.TemporaryDirectory() as folder:
            try:
                dist_checkpointing.save(model.module.sharded_state_dict(), folder)
                found = str(sorted(os.listdir(folder)))
            except RuntimeError as error:
                found = str(error)
        dist.destroy_process_group()
        end("a checkpoint, or an error", found, True)


if __name__ == "__main__":  # a save starts a process that imports this file
    main()
