"""ZeRO 1 and 2 cannot load a universal checkpoint where a rank has nothing but padding of a group.

They look for the step of the first parameter in the rank's part, and there is none.
"""

import os
import subprocess
import sys
import tempfile
import traceback
from typing import Any

os.environ["DS_ACCELERATOR"] = "cpu"
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here
RANKS = 2


def make(universal: bool) -> Any:
    """Return an engine with two weights and two of padding: the second rank has the latter."""
    model = torch.nn.Linear(2, 1, bias=False)
    return deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters()),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": 2},
            "checkpoint": {"load_universal": universal},
        },
    )[0]


def run(rank: int, folder: str) -> None:
    """One rank."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS))
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    engine = make(universal=False)
    engine.backward(engine(torch.ones(1, 2)).sum())
    engine.step()
    engine.save_checkpoint(folder, tag="native")
    if rank == 0:
        convert = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal"]
        convert += ["--input_folder", f"{folder}/native", "--output_folder", f"{folder}/universal"]
        subprocess.run([*convert, "--inject_missing_state"], check=True, capture_output=True)
    dist.barrier()
    try:
        make(universal=True).optimizer._load_universal_checkpoint(f"{folder}/universal", True, True)
        said = "no error"
    except IndexError:
        said = traceback.format_exc().strip().splitlines()[-1]
        open(f"{folder}/defect", "w").close()
    print(f"rank {rank}: expected no error, actual {said}", flush=True)
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        wrong = os.path.exists(f"{place}/defect")
    sys.stdout.flush()
    os._exit(wrong)
