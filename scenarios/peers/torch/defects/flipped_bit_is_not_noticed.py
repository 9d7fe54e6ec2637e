"""A bit that flips in a checkpoint's data is loaded as it is, in every format.

Hugging Face files carry no checksum; the native format's zip records do, and they are not
checked.
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

RANKS, ROWS = 2, 4
PAYLOAD = bytes.fromhex("0000c03f")  # 1.5, little endian; with 0x40 more in its last byte a NaN


def save(rank: int, path: str, hf: bool) -> None:
    """One rank of a save of a parameter of 1.5."""
    dist.init_process_group("gloo", f"file://{path}-store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(2, ROWS, bias=False)
    torch.nn.init.constant_(model.weight, 1.5)
    fully_shard(model)
    writer = Writer(path, save_distributed=True) if hf else dcp.FileSystemWriter(path)
    dcp.save(model.state_dict(), storage_writer=writer)
    dist.destroy_process_group()


def flip(file: str) -> None:
    """Flips the second highest bit of the first number of the file's data."""
    with open(file, "r+b") as stream:
        position = stream.read().index(PAYLOAD * 2) + 3
        stream.seek(position)
        stream.write(bytes([PAYLOAD[3] ^ 0x40]))


if __name__ == "__main__":
    wrong = False
    with tempfile.TemporaryDirectory() as place:
        for hf in False, True:
            path = f"{place}/{hf}"
            mp.start_processes(save, (path, hf), RANKS, start_method="fork")
            file = sorted(name for name in os.listdir(path) if not name.startswith("."))[0]
            flip(f"{path}/{file}")
            weight = torch.zeros(ROWS, 2)
            actual = "an error"
            try:
                reader = Reader(path) if hf else dcp.FileSystemReader(path)
                dcp.load({"weight": weight}, storage_reader=reader, no_dist=True)
                actual = f"loaded, weight[0, 0] is {weight[0, 0]} for 1.5"
            except dcp.api.CheckpointException:
                pass
            print(f"a flipped bit in {file}\n  expected: an error\n  actual:   {actual}")
            wrong = wrong or actual != "an error"
    sys.exit(wrong)
