"""A second moment far below its block's largest is stored as zero, and that weight runs away.

fp8 has nothing below 2^-18 of the largest, the 8-bit map nothing below 1e-7. An element whose
gradients are a thousandth (8 bit: a 3,000th) of a neighbour's has a second moment of one step's
square at each step, and a first moment that is whole: it moves up to sqrt(1 / (1 - beta2)) as far.
With 4 bits, where no code is zero, it hardly moves.
"""

import sys

import torch
from torchao.optim import AdamW4bit, AdamW8bit, AdamWFp8

STEPS = 1000


def moved(kind: type, small: float) -> float:
    """Return how far a weight moves whose gradients are small beside those of its block."""
    gradient = torch.ones(64, 64)
    gradient[:, ::2] = small
    weight = torch.nn.Parameter(torch.zeros(64, 64))
    optimizer = kind([weight], lr=1.0, weight_decay=0.0)
    for _ in range(STEPS):
        weight.grad = gradient.clone()
        optimizer.step()
    return -weight[0, 0].item()


if __name__ == "__main__":
    torch.compiler.set_stance("force_eager")  # the same compiled
    wrong = False
    for small in 1e-2, 1e-3, 3e-4:
        expected = moved(torch.optim.AdamW, small)
        for kind in AdamW8bit, AdamW4bit, AdamWFp8:
            actual = moved(kind, small)
            wrong = wrong or not 0.5 < actual / expected < 2
            print(
                f"gradients of {small} beside 1: expected a move of {expected:.0f}, "
                f"actual {actual:.0f} ({kind.__name__})"
            )
    sys.exit(wrong)
