"""A universal checkpoint gives all groups of ZeRO 3 the settings of the first.

Biases and norms that are not to decay do so after such a load.
"""

import os
import subprocess
import sys
import tempfile
from typing import Any

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here


def make(universal: bool) -> Any:
    """Return an engine with two groups, of which the second does not decay."""
    model = torch.nn.Linear(4, 4)
    groups = [
        {"params": [model.weight], "weight_decay": 0.1, "lr": 0.1},
        {"params": [model.bias], "weight_decay": 0.0, "lr": 0.2},
    ]
    return deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(groups),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": 3},
            "checkpoint": {"load_universal": universal},
        },
    )[0]


def settings(engine: Any) -> list[tuple[float, float]]:
    """Return learning rate and decay of each group."""
    return [(group["lr"], group["weight_decay"]) for group in engine.optimizer.param_groups]


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as folder:
        engine = make(universal=False)
        engine.backward(engine(torch.ones(1, 4)).sum())
        engine.step()
        engine.save_checkpoint(folder, tag="native")
        convert = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal"]
        convert += ["--input_folder", f"{folder}/native", "--output_folder", f"{folder}/universal"]
        subprocess.run(convert, check=True, capture_output=True)
        loaded = make(universal=True)
        loaded.load_checkpoint(folder, tag="universal")
        print(f"lr, weight_decay: expected {settings(engine)}")
        print(f"                  actual   {settings(loaded)}")
        wrong = settings(engine) != settings(loaded)
    sys.stdout.flush()
    os._exit(wrong)
