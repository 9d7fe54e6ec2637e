"""DeepSpeedCPUAdam computes powers of the betas, and one minus these, in fp32.

One minus 0.998 has lost ten bits: the second step is wrong by some 5e-6 of itself, as much as if
the learning rate were.
"""

import os
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
import torch
from deepspeed.ops.adam import DeepSpeedCPUAdam


def updates(kind: type[torch.optim.Optimizer], steps: int) -> torch.Tensor:
    """Return by how much the last of some steps with gradients of 1 changes a weight of 0."""
    weight = torch.nn.Parameter(torch.zeros(16))
    optimizer = kind([weight], lr=1.0, betas=(0.9, 0.999), eps=0.0, weight_decay=0.0)
    for _ in range(steps):
        weight.data.zero_()
        weight.grad = torch.ones(16)
        optimizer.step()
    return weight.detach()


if __name__ == "__main__":
    torch.set_num_threads(1)
    worst = 0.0
    for steps in (1, 2, 3, 10, 100):
        actual = updates(DeepSpeedCPUAdam, steps)[0].item()
        print(
            f"step {steps}: expected -1.0000000 (torch {updates(torch.optim.Adam, steps)[0]:.7f})"
        )
        print(f"step {steps}: actual   {actual:.7f}")
        worst = max(worst, abs(actual + 1.0))
    sys.stdout.flush()
    os._exit(worst > 1e-6)
