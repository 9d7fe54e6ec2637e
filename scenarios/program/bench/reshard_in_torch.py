#!/usr/bin/env python3
"""PyTorch's planner on what the suite `reshard` plans: 4,096 ranks' files of 1,000 tensors on 3,072.

usage: reshard_in_torch.py [--tensors N]

Times, for worlds of 64 to 1,024 ranks, what one rank of a load does before it reads: unpickling
DCP's metadata, and making its read items (what `create_default_local_load_plan` does for a shard).
Both grow with the number of saved chunks, so the figures for 4,096 ranks and 1,000 tensors are the
slope of a line through the measured ones, times as many; the world's is that times 3,072 ranks.
Needs PyTorch; exits with 77, saying so, where it cannot be imported.
"""

import argparse
import pickle
import statistics
import sys
import time

try:
    import torch
    from torch.distributed.checkpoint.metadata import (
        ChunkStorageMetadata,
        Metadata,
        MetadataIndex,
        TensorProperties,
        TensorStorageMetadata,
    )
    from torch.distributed.checkpoint.filesystem import _StorageInfo
    from torch.distributed.checkpoint.planner_helpers import create_read_items_for_chunk_list
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

COLUMNS = 768
ROWS_OF_RANK = 1009
FROM, TO, TENSORS = 4096, 3072, 1000


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


def seconds_of(function, rounds=3):
    times = []
    for _ in range(rounds):
        begin = time.process_time()
        function()
        times.append(time.process_time() - begin)
    return statistics.median(times)


def slope(points):
    """Of the line through the origin that fits best."""
    return sum(x * y for x, y in points) / sum(x * x for x, _ in points)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensors", type=int, default=100)
    tensors = parser.parse_args().tensors
    unpickled, planned = [], []
    for ranks in (64, 256, 1024):
        metadata = metadata_of(ranks, tensors)
        text = pickle.dumps(metadata)
        unpickling = seconds_of(lambda: pickle.loads(text))
        own = [list(chunks_of(t.size[0], ranks * 3 // 4))[ranks * 3 // 8] for t in metadata.state_dict_metadata.values()]
        keys = list(metadata.state_dict_metadata.items())
        planning = seconds_of(
            lambda: [create_read_items_for_chunk_list(key, tensor, [chunk]) for (key, tensor), chunk in zip(keys, own)]
        )
        print(f"{ranks} ranks, {tensors} tensors: unpickle {unpickling:.3f} s, plan of one rank {planning:.3f} s")
        unpickled.append((ranks * tensors, unpickling))
        planned.append((ranks * tensors, planning))
    unpickle, one = (slope(points) * FROM * TENSORS for points in (unpickled, planned))
    print(
        f"torch {torch.__version__}, fitted for {FROM} -> {TO} ranks, {TENSORS} tensors: "
        f"unpickle {unpickle:.1f} s a rank, plan {one:.2f} s a rank, {one * TO:.0f} s the world"
    )


if __name__ == "__main__":
    main()
