#!/usr/bin/env python3
"""PyTorch on what the suite `checkpoint` saves and loads: GPT-2 124M with its moments, 1.5 GB.

usage: checkpoint_in_torch.py [PROGRAM] [--rounds N] [--worlds]

One process without a process group saves and loads by DCP in its native format, and by torch.save
and torch.load, each into tensors that are kept (torch.load's are copied to them). With --worlds a
world of 8 processes saves by DCP and one of 3 loads, tensors cut into rows by DTensor: seconds of
all ranks together, and what the most greedy rank takes beside its tensors. Nothing is synced, files
are in /dev/shm where there is room, seconds are the processor's.

With PROGRAM, an `adamant`, its suite `checkpoint` runs between two halves of the rounds, and
PyTorch's time is printed over ours for host memory that is kept. PyTorch computes no CRC-32C of
what it saves and loads: the time that ours takes for one of the same bytes is added to its own.
Needs PyTorch; exits with 77, saying so, where it cannot be imported.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
    import torch.distributed as dist
    import torch.distributed.checkpoint as dcp
    from torch.distributed.tensor import DTensor, Shard
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

from cpu_step_against_others import gpt2_shapes

ROOM_BYTES = 4 << 30
MIB = 1 << 20
SAVING_RANKS, LOADING_RANKS = 8, 3


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


# ---- one process ---------------------------------------------------------------------------------


class Contenders:
    """A state, where it is loaded to, and the seconds of every round by what was done."""

    def __init__(self, directory):
        shapes = gpt2_shapes()
        self.saved, self.loaded = state_of(shapes, 1), state_of(shapes, 0)
        self.gigabytes = sum(t.numel() * t.element_size() for t in self.saved.values()) / 1e9
        self.directory = directory
        self.seconds = {"DCP save": [], "DCP load": [], "torch.save": [], "torch.load": []}

    def round(self, counts):
        path = os.path.join(self.directory, "c")
        writer = dcp.FileSystemWriter(path, sync_files=False)
        saving = timed(lambda: dcp.save(self.saved, storage_writer=writer))
        loading = timed(lambda: dcp.load(self.loaded, storage_reader=dcp.FileSystemReader(path)))
        self.expect_loaded()
        shutil.rmtree(path)
        file_saving = timed(lambda: torch.save(self.saved, path))
        file_loading = timed(lambda: self.load_file(path))
        self.expect_loaded()
        os.remove(path)
        if counts:  # what came first warms up
            for what, seconds in zip(self.seconds, (saving, loading, file_saving, file_loading), strict=True):
                self.seconds[what].append(seconds)

    def load_file(self, path):
        for name, tensor in torch.load(path, weights_only=True).items():
            self.loaded[name].copy_(tensor)

    def expect_loaded(self):
        if not all(torch.equal(self.loaded[name], tensor) for name, tensor in self.saved.items()):
            sys.exit("what was loaded is not what was saved")
        for tensor in self.loaded.values():
            tensor.zero_()


def rows_of(program):
    """What the suite says, by name."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.json")
        subprocess.run([program, "bench", "--suite", "checkpoint", "--json", path, "--quiet"], check=True)
        with open(path, encoding="utf-8") as file:
            return {row["name"]: row["value"] for row in json.load(file)["results"]}


def compare(contenders, rows):
    for what, seconds in contenders.seconds.items():
        theirs = statistics.median(seconds)
        line = f"{what}: {contenders.gigabytes / theirs:.2f} GB a processor second"
        if rows:
            checksum = contenders.gigabytes / rows["checksum_rate"]
            ours = contenders.gigabytes / rows["save_rate" if "save" in what else "load_rate"]
            over = [(s + checksum) / ours for s in (theirs, min(seconds), max(seconds))]
            line += f"; with a checksum over adamant {over[0]:.2f} x ({over[1]:.2f} to {over[2]:.2f})"
        print(line)


# ---- worlds --------------------------------------------------------------------------------------


def peak_resident_bytes():
    with open("/proc/self/status", encoding="utf-8") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def in_world(rank, ranks, directory, saves, results):
    """What one process does: saves its rows of every tensor, or loads them."""
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    meeting = os.path.join(directory, f"meeting-{ranks}")
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=ranks)
    mesh = dist.init_device_mesh("cpu", (ranks,))
    state = {}
    for name, shape in ((n, t.shape) for n, t in state_of(gpt2_shapes(), 1).items()):
        each = -(-shape[0] // ranks)
        rows = max(0, min(shape[0], (rank + 1) * each) - rank * each)
        local = torch.full((rows, *shape[1:]), float(saves))
        stride = torch.empty(shape, device="meta").stride()
        state[name] = DTensor.from_local(local, mesh, [Shard(0)], run_check=False, shape=shape, stride=stride)
    path = os.path.join(directory, "worlds")
    dist.barrier()
    with open("/proc/self/clear_refs", "w", encoding="utf-8") as file:
        file.write("5")  # from here on the peak counts anew
    before = peak_resident_bytes()
    if saves:
        seconds = timed(lambda: dcp.save(state, storage_writer=dcp.FileSystemWriter(path, sync_files=False)))
    else:
        seconds = timed(lambda: dcp.load(state, storage_reader=dcp.FileSystemReader(path)))
    extra = peak_resident_bytes() - before
    if not all(bool((tensor.to_local() == 1).all()) for tensor in state.values()):
        sys.exit("what was loaded is not what was saved")
    results.put((seconds, extra))
    dist.destroy_process_group()


def run_world(ranks, directory, saves):
    """Seconds of all ranks together, and the most bytes that one of them took."""
    context = torch.multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    torch.multiprocessing.spawn(in_world, args=(ranks, directory, saves, results), nprocs=ranks)
    answers = [results.get() for _ in range(ranks)]
    return sum(seconds for seconds, _ in answers), max(extra for _, extra in answers)


def compare_worlds(directory, gigabytes, rows):
    for what, ranks, saves in (("save", SAVING_RANKS, True), ("load", LOADING_RANKS, False)):
        seconds, extra = run_world(ranks, directory, saves)
        line = f"DCP {what} by {ranks} ranks: {seconds:.2f} s, {extra / MIB:.0f} MiB beside the tensors of a rank"
        if rows:
            ours = gigabytes / rows[f"{what}_rate"]
            line += f"; adamant {ours:.2f} s, {rows[f'{what}_extra_memory_of_a_rank']:.2f} MiB and headers"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--worlds", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", category=UserWarning)  # that there is no process group

    rows = {}
    with tempfile.TemporaryDirectory(dir=scratch_parent()) as directory:
        contenders = Contenders(directory)
        contenders.round(counts=False)
        for number in range(arguments.rounds):
            if arguments.program and number == arguments.rounds // 2:
                rows = rows_of(arguments.program)
            contenders.round(counts=True)
        print(f"torch {torch.__version__}, GPT-2 with moments, {contenders.gigabytes:.2f} GB")
        compare(contenders, rows)
        if arguments.worlds:
            compare_worlds(directory, contenders.gigabytes, rows)


if __name__ == "__main__":
    main()
