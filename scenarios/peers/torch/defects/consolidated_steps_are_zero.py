"""Consolidation of Hugging Face shards writes zero for every tensor without dimensions.

Adam's step counters are such tensors: after a load the bias corrections begin again at step 1
with moments of step 3.
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
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def tensors_after(steps: int) -> dict[str, torch.Tensor]:
    """Return the optimizer's tensors after a few steps, by key."""
    model = torch.nn.Linear(4, 4, bias=False)
    fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(steps):
        model(torch.eye(4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    state = get_optimizer_state_dict(model, optimizer)["state"]["weight"]
    return {f"weight.{key}": value for key, value in state.items()}


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    for consolidate in False, True:
        path = f"{folder}/checkpoint-{consolidate}"
        writer = Writer(path, save_distributed=True, enable_consolidation=consolidate)
        dcp.save(tensors_after(3), storage_writer=writer)
        loaded = tensors_after(1)
        dcp.load(loaded, storage_reader=Reader(path))
        actual = loaded["weight.step"].item()
        if rank == 0:
            print(f"step, consolidated {consolidate}: expected 3.0, actual {actual}")
            if actual != 3:
                open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
