"""A file of another save of the same shapes loads without an error, in every format.

Nothing in a data file says which save it belongs to: what a sync that copied only some files
left behind becomes rows of two steps in one tensor.
"""

import os
import shutil
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
import torch.multiprocessing as mp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader as Reader
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageWriter as Writer
from torch.distributed.fsdp import fully_shard

RANKS, ROWS = 2, 4


def save(rank: int, path: str, value: float, hf: bool) -> None:
    """One rank of a save of a parameter that holds one value everywhere."""
    dist.init_process_group("gloo", f"file://{path}-store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(2, ROWS, bias=False)
    torch.nn.init.constant_(model.weight, value)
    fully_shard(model)
    writer = Writer(path, save_distributed=True) if hf else dcp.FileSystemWriter(path)
    dcp.save(model.state_dict(), storage_writer=writer)
    dist.destroy_process_group()


if __name__ == "__main__":
    wrong = False
    with tempfile.TemporaryDirectory() as place:
        for hf in False, True:
            old, new = f"{place}/old-{hf}", f"{place}/new-{hf}"
            for path, value in (old, 1.0), (new, 2.0):
                mp.start_processes(save, (path, value, hf), RANKS, start_method="fork")
            file = sorted(name for name in os.listdir(new) if not name.startswith("."))[0]
            shutil.copy(f"{old}/{file}", f"{new}/{file}")
            weight = torch.zeros(ROWS, 2)
            actual = "an error"
            try:
                reader = Reader(new) if hf else dcp.FileSystemReader(new)
                dcp.load({"weight": weight}, storage_reader=reader, no_dist=True)
                actual = f"loaded, rows {[int(value) for value in weight[:, 0]]}"
            except dcp.api.CheckpointException:
                pass
            print(f"{file} of an older save\n  expected: an error\n  actual:   {actual}")
            wrong = wrong or actual != "an error"
    sys.exit(wrong)
