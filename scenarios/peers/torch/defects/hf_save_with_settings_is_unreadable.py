"""A Hugging Face save of what get_state_dict returns succeeds, and nothing can be read from it.

The optimizer's settings are no tensors: the writer puts their pickled bytes before the header of
the safetensors file. The save reports success; the loss shows when the checkpoint is needed.
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
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.fsdp import fully_shard

RANKS = 2


def run(rank: int, folder: str) -> None:
    """One rank."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    model = torch.nn.Linear(4, 4)
    fully_shard(model)
    model_state, optimizer_state = get_state_dict(model, torch.optim.AdamW(model.parameters()))
    path = f"{folder}/checkpoint"
    actual = "the save is refused"
    try:
        state = {"model": model_state, "optim": optimizer_state}
        dcp.save(state, storage_writer=Writer(path, save_distributed=True))
        actual = "saved"
        dcp.load({"model": model_state}, storage_reader=Reader(path))
        actual = "saved and loaded"
    except dcp.api.CheckpointException as error:
        actual += f", then: {str(error).strip().splitlines()[-1]}"
    if rank == 0:
        print(f"expected: saved and loaded, or the save is refused\nactual:   {actual}")
        if actual.startswith("saved, then"):
            open(f"{folder}/defect", "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        sys.exit(os.path.exists(f"{place}/defect"))
