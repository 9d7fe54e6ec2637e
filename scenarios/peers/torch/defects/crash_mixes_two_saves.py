"""A save over an older one that one rank does not survive leaves half of each, and it loads.

Every rank truncates and rewrites its own file in place. Until the metadata is replaced, or for
ever with Hugging Face shards, the older save's description names the new file: no error, rows of
two different steps in one tensor. A job that is killed while it saves comes to this.
"""

import multiprocessing
import os
import signal
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


def state_of(value: float) -> dict[str, torch.Tensor]:
    """Return a sharded parameter that holds one value everywhere."""
    model = torch.nn.Linear(2, 4, bias=False)
    torch.nn.init.constant_(model.weight, value)
    return fully_shard(model).state_dict()


def run(rank: int, folder: str, step: str, path: str, hf: bool) -> None:
    """One rank of one `step`: a save of 1.0, a save of 2.0 that rank 1 does not survive, a load."""
    store = f"file://{folder}/{step}{hf}"
    dist.init_process_group("gloo", store, rank=rank, world_size=RANKS)
    saver, loader = (Writer, Reader) if hf else (dcp.FileSystemWriter, dcp.FileSystemReader)
    if step == "load":
        state = state_of(0.0)
        dcp.load(state, storage_reader=loader(path))
        actual = state["weight"].full_tensor()[:, 0].tolist()
        if rank == 0:
            name = "Hugging Face shards" if hf else "distributed checkpoint"
            print(f"{name}: rows after the crash: expected all 1.0 or all 2.0, actual {actual}")
            if len(set(actual)) > 1:
                open(f"{folder}/defect", "w").close()
    else:
        writer = saver(path, save_distributed=True) if hf else saver(path)
        if step == "crash" and rank == 1:
            writer.write_data = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        dcp.save(state_of(1.0 if step == "save" else 2.0), storage_writer=writer)
    dist.destroy_process_group()


def crash(folder: str, path: str, hf: bool) -> None:
    """Run the second save; the rank that waits for the dead one is ended as well."""
    fork = multiprocessing.get_context("fork")
    ranks = [fork.Process(target=run, args=(i, folder, "crash", path, hf)) for i in range(RANKS)]
    for process in ranks:
        process.start()
    ranks[1].join()
    ranks[0].join(2)
    ranks[0].kill()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        for hf in False, True:
            path = f"{place}/checkpoint-{hf}"
            mp.start_processes(run, (place, "save", path, hf), RANKS, start_method="fork")
            crash(place, path, hf)
            mp.start_processes(run, (place, "load", path, hf), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
