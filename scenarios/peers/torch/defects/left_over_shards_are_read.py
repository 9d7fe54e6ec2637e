"""A Hugging Face save over one of more ranks leaves the others' files, and a load reads them too.

The reader takes every *.safetensors of the directory and copies overlapping rows in the order of
their ends: row 9 of 15 is then the older save's. (Others depend on how the directory is listed;
equal offsets of unlike sizes make the load fail.) The save says nothing.
"""

import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader as Reader
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as Writer
from torch.distributed.fsdp import fully_shard

OLD_RANKS, NEW_RANKS, ROWS = 5, 3, 15


def save(rank: int, ranks: int, path: str, value: float) -> None:
    """One rank of a save of a parameter that holds one value everywhere."""
    dist.init_process_group("gloo", f"file://{path}-{value}", rank=rank, world_size=ranks)
    model = torch.nn.Linear(2, ROWS, bias=False)
    torch.nn.init.constant_(model.weight, value)
    fully_shard(model)
    dcp.save(model.state_dict(), storage_writer=Writer(path, save_distributed=True))
    dist.destroy_process_group()


def load(path: str) -> str:
    """Return what a load finds, in words."""
    weight = torch.zeros(ROWS, 2)
    try:
        dcp.load({"weight": weight}, storage_reader=Reader(path), no_dist=True)
    except dcp.api.CheckpointException as error:
        return str(error).strip().splitlines()[-1]
    return f"rows {[int(value) for value in weight[:, 0]]}"


if __name__ == "__main__":
    expected = f"rows {[2] * ROWS}"
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/checkpoint"
        for ranks, value in (OLD_RANKS, 1.0), (NEW_RANKS, 2.0):
            mp.start_processes(save, (ranks, path, value), ranks, start_method="fork")
        actual = load(path)
        print(f"saved 1 by {OLD_RANKS} ranks, then 2 by {NEW_RANKS} into the same directory")
        print(f"expected: {expected}\nactual:   {actual}")
        sys.exit(actual != expected)
