"""torchao takes `1 - beta2 ** step` in fp32, so the first steps have few right digits of it.

The counter is a tensor in fp32 and so is the power. What is left after the subtraction from one is
a multiple of 2^-24: at step 2, with a beta2 of 0.9999, that is one part in 3,355 of it.
"""

import sys

import torch
from torchao.optim import AdamW8bit

BETA2 = 0.9999


def moved(kind: type, steps: int) -> float:
    """Return how far a weight of zero moves in the last of some steps with a gradient of one."""
    weight = torch.nn.Parameter(torch.zeros(8, dtype=torch.float32))
    optimizer = kind([weight], lr=1.0, betas=(0.0, BETA2), eps=0.0, weight_decay=0.0)
    before = 0.0
    for _ in range(steps):
        before = weight[0].item()
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return before - weight[0].item()


if __name__ == "__main__":
    torch.compiler.set_stance("force_eager")  # the same compiled
    worst = 0.0
    for steps in range(2, 6):
        expected, actual = moved(torch.optim.AdamW, steps), moved(AdamW8bit, steps)
        print(f"step {steps}: expected a move of {expected:.7f}, actual {actual:.7f}")
        worst = max(worst, abs(actual - expected) / expected)
    print(f"largest relative error {worst:.1e}; one rounding in fp32 is 6.0e-08")
    sys.exit(worst > 1e-6)
