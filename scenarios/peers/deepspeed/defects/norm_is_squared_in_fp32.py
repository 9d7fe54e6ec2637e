"""ZeRO 1 and 2 sum squares of gradients in double, and round the sum to fp32 before its root.

A norm above 1.8e19 is infinite: the step is skipped as if a gradient were, and nothing is said.
ZeRO 3 keeps the sum in double.
"""

import os
import sys
import traceback

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here
LARGE = 2.0**65  # 3.7e19, a finite gradient
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


def moved(stage: int) -> float:
    """Return how far a weight goes in a step of fp32 with a learning rate of 1."""
    model = torch.nn.Linear(4, 4, bias=False)
    engine, zero, _, _ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=1.0),
        config={"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": stage}},
    )
    weights = (
        zero.fp32_partitioned_groups_flat[0]
        if stage == 3
        else zero.single_partition_of_fp32_groups[0]
    )
    before = weights.detach().clone()
    engine.backward(engine(torch.full((1, 4), LARGE)).sum())
    engine.step()
    return (before - weights.detach()).abs().max().item()


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    seen = {stage: moved(stage) for stage in (1, 2, 3)}
    for stage, distance in seen.items():
        print(f"ZeRO {stage}: a weight moves by: expected 1, actual {distance:.3f}")
    sys.stdout.flush()
    os._exit(min(seen.values()) < 0.5)
