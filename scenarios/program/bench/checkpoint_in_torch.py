#!/usr/bin/env python3
"""PyTorch DCP on what the suite `checkpoint` saves and loads: GPT-2 124M with its moments, 1.5 GB.

usage: checkpoint_in_torch.py [--rounds N]

One process without a process group, DCP's native format, nothing synced, files in /dev/shm where
there is room. Prints gigabytes a processor second, as the rows save_rate and load_rate of
`adamant bench --suite checkpoint` do; DCP computes no checksums. Needs PyTorch; exits with 77,
saying so, where it cannot be imported.
"""

import argparse
import os
import resource
import shutil
import statistics
import sys
import tempfile
import warnings

try:
    import torch
    import torch.distributed.checkpoint as dcp
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from cpu_step_against_others import gpt2_shapes

ROOM_BYTES = 4 << 30


def state_of(shapes, fill):
    return {
        f"{kind}.{number}": torch.full(shape, float(fill))
        for number, shape in enumerate(shapes)
        for kind in ("model", "exp_avg", "exp_avg_sq")
    }


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def timed(function):
    begin = processor_seconds()
    function()
    return processor_seconds() - begin


def scratch_parent():
    memory = "/dev/shm"
    return memory if os.path.isdir(memory) and shutil.disk_usage(memory).free > ROOM_BYTES else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=UserWarning)  # that there is no process group

    shapes = gpt2_shapes()
    saved, loaded = state_of(shapes, 1), state_of(shapes, 0)
    gigabytes = sum(t.numel() * t.element_size() for t in saved.values()) / 1e9
    saves, loads = [], []
    with tempfile.TemporaryDirectory(dir=scratch_parent()) as directory:
        for round_number in range(arguments.rounds + 1):
            path = os.path.join(directory, str(round_number))
            writer = dcp.FileSystemWriter(path, sync_files=False)
            saving = timed(lambda: dcp.save(saved, storage_writer=writer))
            loading = timed(lambda: dcp.load(loaded, storage_reader=dcp.FileSystemReader(path)))
            shutil.rmtree(path)
            if round_number > 0:  # the first one warms up
                saves.append(gigabytes / saving)
                loads.append(gigabytes / loading)
    if not all(torch.equal(loaded[name], saved[name]) for name in saved):
        sys.exit("what was loaded is not what was saved")
    print(
        f"torch {torch.__version__} DCP, GPT-2 with moments, {gigabytes:.2f} GB: "
        f"save {statistics.median(saves):.2f}, load {statistics.median(loads):.2f} GB a processor second"
    )


if __name__ == "__main__":
    main()
