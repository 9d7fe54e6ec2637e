"""With `communication_data_type: fp32` ZeRO 2 sums in fp32 what it divided, and rounded, in bf16.

On a number of ranks that is no power of two a gradient of 1 on each has another mean than 1.
"""

import os
import sys
import tempfile

os.environ["DS_ACCELERATOR"] = "cpu"
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here
RANKS = 3


def mean(reduce_scatter: bool) -> float:
    """Return the reduced gradient of a weight that has one of 1 on each rank."""
    model = torch.nn.Linear(1, 1, bias=False)
    engine, zero, _, _ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters()),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": 2, "reduce_scatter": reduce_scatter},
            "bf16": {"enabled": True},
            "communication_data_type": "fp32",
            "data_types": {"grad_accum_dtype": "fp32"},
        },
    )
    engine.backward(engine(torch.ones(1, 1, dtype=torch.bfloat16)).float().sum())
    return float(zero.averaged_gradients[0][0].reshape(-1)[0])


def run(rank: int, folder: str) -> None:
    """One rank."""
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS))
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    found = {way: mean(way) for way in (False, True)}
    if rank == 0:  # the first rank owns the weight
        for way, actual in found.items():
            print(f"reduce_scatter {way}: expected 1.0, actual {actual}", flush=True)
        if abs(found[True] - 1.0) > 1e-6:
            open(f"{folder}/defect", "w").close()
    dist.barrier()
    os._exit(0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        mp.start_processes(run, (place,), RANKS, start_method="fork")
        wrong = os.path.exists(f"{place}/defect")
    sys.stdout.flush()
    os._exit(wrong)
