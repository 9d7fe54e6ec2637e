"""A quantised second moment has a scale of 1e-12 or more; gradients below 1e-5 need smaller ones.

The floor belongs to quotients that would be by zero, and is one for first and second moments. The
square of a gradient of 1e-6 times 1 - beta2 is 1e-15: of a block like that few codes are left.
"""

import sys

import torch
from torchao.optim import AdamW4bit, AdamW8bit, AdamWFp8

STEPS = 200


def moved(kind: type, gradient: float) -> float:
    """Return how far weights move when each step has the same gradient for all."""
    weight = torch.nn.Parameter(torch.zeros(64, 64))
    optimizer = kind([weight], lr=1.0, weight_decay=0.0)
    for _ in range(STEPS):
        weight.grad = torch.full_like(weight, gradient)
        optimizer.step()
    return -weight[0, 0].item()


if __name__ == "__main__":
    torch.compiler.set_stance("force_eager")  # the same compiled
    wrong = False
    for gradient in 1e-4, 1e-6, 1e-7:
        expected = moved(torch.optim.AdamW, gradient)
        for kind in AdamW8bit, AdamW4bit, AdamWFp8:
            actual = moved(kind, gradient)
            wrong = wrong or not 0.5 < actual / expected < 2
            print(
                f"gradients of {gradient}: expected a move of {expected:.1f}, "
                f"actual {actual:.1f} ({kind.__name__})"
            )
    sys.exit(wrong)
