"""A Hugging Face checkpoint cannot be loaded where a tensor has rows and no elements.

FSDP2 keeps no row of such a tensor, though its DTensor says otherwise. Files hold what is there,
and the reader takes the size of the whole from where the last shard ends.
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

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Module()
    model.empty = torch.nn.Parameter(torch.ones(4, 0))
    fully_shard(model)
    path = f"{folder}/checkpoint"
    dcp.save(model.state_dict(), storage_writer=Writer(path, save_distributed=True))
    actual = "loaded"
    try:
        dcp.load(model.state_dict(), storage_reader=Reader(path))
    except dcp.api.CheckpointException as error:
        actual = str(error).strip().splitlines()[-1]
    if rank == 0:
        print(f"expected: loaded\nactual:   {actual}")
        if actual != "loaded":
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
