"""A Hugging Face checkpoint without one of its shards loads: its rows keep what was there before.

A load copies where saved and wanted rows overlap and never asks whether every wanted row was
there. (The last file missing shrinks the tensor and is noticed: its size is only inferred.)
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader as Reader
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as Writer
from torch.distributed.fsdp import fully_shard

RANKS, ROWS = 3, 6


def save(rank: int, path: str) -> None:
    """One rank of a save of a parameter of ones."""
    dist.init_process_group("gloo", f"file://{path}-store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(2, ROWS, bias=False)
    torch.nn.init.ones_(model.weight)
    fully_shard(model)
    dcp.save(model.state_dict(), storage_writer=Writer(path, save_distributed=True))
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/checkpoint"
        mp.start_processes(save, (path,), RANKS, start_method="fork")
        os.remove(f"{path}/shard-00002-model-00001-of-00001.safetensors")
        weight = torch.full((ROWS, 2), -7.0)
        actual = "an error"
        try:
            dcp.load({"weight": weight}, storage_reader=Reader(path), no_dist=True)
            actual = f"loaded, rows {[int(value) for value in weight[:, 0]]}"
        except dcp.api.CheckpointException:
            pass
        print(f"expected: an error\nactual:   {actual}")
        sys.exit(actual != "an error")
