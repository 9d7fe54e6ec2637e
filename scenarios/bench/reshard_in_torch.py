#!/usr/bin/env python3
"""PyTorch's planner on what the suite `reshard` plans: 4,096 ranks' files of 1,000 tensors on 3,072.

usage: reshard_in_torch.py [PROGRAM] [--tensors N]

Times, for worlds of 256 to 4,096 ranks with fewer tensors, what one rank of a load does before it
reads: unpickling DCP's metadata, and making its read items (`create_read_items_for_chunk_list`,
without what DTensors and the planner around it cost). Both grow with the number of saved chunks.
So the figures for 4,096 ranks and 1,000 tensors are fitted: the slope of a line through the
measured ones, times as many chunks. The world's is that times 3,072 ranks, because each makes its
own plan of all. Seconds are the processor's, the least of three.

With PROGRAM, an `adamant`, its suite `reshard` runs before and after, and PyTorch's times are
printed over the larger of ours. Needs PyTorch; exits with 77, saying so, where it cannot be
imported.
"""

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time

try:
    import torch
    from torch.distributed.checkpoint.filesystem import _StorageInfo
    from torch.distributed.checkpoint.metadata import (
        ChunkStorageMetadata,
        Metadata,
        MetadataIndex,
        TensorProperties,
        TensorStorageMetadata,
    )
    from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

COLUMNS = 768
ROWS_OF_RANK = 1009
FROM, TO, TENSORS = 4096, 3072, 1000
WORLDS = (256, 1024, 4096)
ROUNDS = 3


def chunks_of(rows, ranks):
    each = -(-rows // ranks)
    for rank in range(ranks):
        begin, end = min(rows, rank * each), min(rows, (rank + 1) * each)
        yield ChunkStorageMetadata(torch.Size([begin, 0]), torch.Size([end - begin, COLUMNS]))


def metadata_of(ranks, tensors):
    state, storage = {}, {}
    rows = ROWS_OF_RANK * ranks - 1
    for number in range(tensors):
        key = f"optim.state.layers.{number}.weight.exp_avg"
        chunks = list(chunks_of(rows, ranks))
        properties = TensorProperties(dtype=torch.float32)
        state[key] = TensorStorageMetadata(properties, torch.Size([rows, COLUMNS]), chunks)
        for rank, chunk in enumerate(chunks):
            size = 4 * COLUMNS * chunk.sizes[0]
            storage[MetadataIndex(key, chunk.offsets, rank)] = _StorageInfo(f"__{rank}_0.distcp", number * size, size)
    return Metadata(state_dict_metadata=state, storage_data=storage)


def seconds_of(function):
    times = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return min(times)


def slope(points):
    """Of the line through the origin that fits best."""
    return sum(x * y for x, y in points) / sum(x * x for x, _ in points)


def measure(ranks, tensors):
    """Seconds of one rank in the middle of a world of three quarters the size: unpickle, plan."""
    metadata = metadata_of(ranks, tensors)
    text = pickle.dumps(metadata)
    saved = list(metadata.state_dict_metadata.items())
    own = [list(chunks_of(t.size[0], ranks * 3 // 4))[ranks * 3 // 8] for _, t in saved]

    def plan():
        for (key, tensor), chunk in zip(saved, own, strict=True):
            create_read_items_for_chunk_list(key, tensor, [chunk])

    return seconds_of(lambda: pickle.loads(text)), seconds_of(plan)


def fitted(tensors):
    """Seconds of one rank with FROM ranks' chunks of TENSORS tensors: unpickle, plan."""
    unpickled, planned = [], []
    for ranks in WORLDS:
        chunks = ranks * tensors
        unpickling, planning = measure(ranks, tensors)
        print(
            f"{ranks} ranks, {tensors} tensors: unpickle {unpickling:.3f} s, plan of one rank {planning:.3f} s: "
            f"{unpickling / chunks * 1e6:.1f} and {planning / chunks * 1e6:.2f} us a chunk"
        )
        unpickled.append((chunks, unpickling))
        planned.append((chunks, planning))
    return tuple(slope(points) * FROM * TENSORS for points in (unpickled, planned))


def rows_of(program):
    """What the suite says, by name, in seconds."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "rows.json")
        command = [program, "bench", "--suite", "reshard", "--json", path, "--quiet"]
        subprocess.run(command, check=True)
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["results"]
    units = {"ns": 1e-9, "ms": 1e-3, "s": 1}
    return {row["name"]: row["value"] * units[row["unit"]] for row in rows if row["unit"] in units}


def compare(runs, unpickle, one):
    size = f"{FROM}_to_{TO}_ranks_{TENSORS}_tensors"
    for what, row, theirs in (
        ("plan of the world", f"plan_of_all_{size}", one * TO),
        ("plan of one rank", f"plan_of_one_{size}", one),
        ("from metadata to the plan of one rank", f"metadata_to_plan_of_one_{size}", unpickle + one),
    ):
        ours = max(run[row] for run in runs)
        print(f"{what}: PyTorch (fitted) {theirs:.3g} s over adamant {ours:.3g} s: {theirs / ours:.3g} x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--tensors", type=int, default=50)
    arguments = parser.parse_args()
    runs = [rows_of(arguments.program)] if arguments.program else []
    unpickle, one = fitted(arguments.tensors)
    print(
        f"torch {torch.__version__}, fitted for {FROM} -> {TO} ranks, {TENSORS} tensors: "
        f"unpickle {unpickle:.1f} s a rank, plan {one:.2f} s a rank, {one * TO:.0f} s the world"
    )
    if arguments.program:
        runs.append(rows_of(arguments.program))
        compare(runs, unpickle, one)


if __name__ == "__main__":
    main()
