"""ZeRO 3 steps a parameter that had no gradient with the one that it had last.

Buffers of gradients are filled by a backward, and not emptied by a step. A parameter that a
backward does not reach, an expert without tokens for one, is stepped with what is left there. With
ZeRO 1 and 2 its gradient is zero.
"""

import os
import sys

os.environ.update(DS_ACCELERATOR="cpu", RANK="0", LOCAL_RANK="0", WORLD_SIZE="1")
import deepspeed
import deepspeed.ops
import torch
import torch.distributed as dist

deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled, and not needed here


class Two(torch.nn.Module):
    """Two layers, of which a forward may leave out the second."""

    def __init__(self) -> None:
        super().__init__()
        self.one = torch.nn.Linear(4, 4, bias=False)
        self.two = torch.nn.Linear(4, 4, bias=False)

    def forward(self, x: torch.Tensor, both: bool) -> torch.Tensor:
        """Return the sum of what each layer makes of `x`."""
        return self.one(x).sum() + (self.two(x).sum() if both else 0.0)


def moment(stage: int) -> float:
    """Return the first moment of the second layer after a step with it and one without it."""
    model = Two()
    engine, zero, _, _ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), betas=(0.5, 0.999)),
        config={
            "train_micro_batch_size_per_gpu": 1,
            "zero_optimization": {"stage": stage},
            "gradient_clipping": 0.0,
        },
    )
    for both in (True, False):
        engine.backward(engine(torch.ones(1, 4), both))
        engine.step()
    (state,) = zero.optimizer.state.values()
    return state["exp_avg"][-1].item()


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    seen = {stage: moment(stage) for stage in (1, 2, 3)}
    for stage, value in seen.items():
        print(f"ZeRO {stage}: exp_avg: expected 0.25 (or 0.5, untouched), actual {value}")
    sys.stdout.flush()
    os._exit(max(seen.values()) > 0.5)
