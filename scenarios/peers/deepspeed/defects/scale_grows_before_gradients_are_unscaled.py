"""A dynamic loss scale that grows in a step also divides this step's gradients, which have the old.

ZeRO's `step` updates the scale first and then divides by it. So each step in which the scale grows
takes half the gradient.
"""

import os
import sys
import traceback

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator

get_accelerator().is_fp16_supported = lambda: True  # it says no where the CPU has no AMX for fp16
deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here
# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


def moments(stage: int) -> list[float]:
    """Return the first moment, as a share of what it should be, after each of four steps."""
    model = torch.nn.Linear(4, 4, bias=False)
    engine, zero, _, _ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.AdamW(model.parameters(), betas=(0.0, 0.999)),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": stage},
            "gradient_clipping": 0.0,
            "fp16": {"enabled": True, "initial_scale_power": 8, "loss_scale_window": 2},
        },
    )
    found = []
    for _ in range(4):  # the gradient of each weight is 1; with beta1 = 0 so is the first moment
        engine.backward(engine(torch.ones(1, 4, dtype=torch.half)).float().sum())
        engine.step()
        (state,) = zero.optimizer.state.values()
        found.append(state["exp_avg"][0].item())
    return found


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    wrong = False
    for stage in (1, 2, 3):
        seen = moments(stage)
        print(f"ZeRO {stage}: exp_avg: expected {[1.0] * 4}")
        print(f"        exp_avg: actual   {seen}")
        wrong = wrong or seen != [1.0] * 4
    sys.stdout.flush()
    os._exit(wrong)
