"""The converter to universal checkpoints fails on one of ZeRO 3 that was saved before a first step.

Moments are made by that step, and the converter looks for them. Those of ZeRO 1 and 2 convert.
"""

import os
import subprocess
import sys
import tempfile

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here


def converted(stage: int) -> str:
    """Return the last line of the converter's error, or that there is none."""
    model = torch.nn.Linear(4, 4)
    engine = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters()),
        config={"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": stage}},
    )[0]
    with tempfile.TemporaryDirectory() as folder:
        engine.save_checkpoint(folder, tag="native")
        convert = [sys.executable, "-m", "deepspeed.checkpoint.ds_to_universal"]
        convert += ["--input_folder", f"{folder}/native", "--output_folder", f"{folder}/universal"]
        ended = subprocess.run(
            [*convert, "--inject_missing_state"], capture_output=True, text=True, check=False
        )
    return "no error" if ended.returncode == 0 else ended.stderr.strip().splitlines()[-1]


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    seen = {stage: converted(stage) for stage in (2, 3)}
    for stage, said in seen.items():
        print(f"ZeRO {stage}: expected no error, actual {said}")
    sys.stdout.flush()
    os._exit(seen[2] != seen[3])
