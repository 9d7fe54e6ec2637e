"""DeepSpeedCPUAdam rounds whole vectors otherwise than the elements that are left at the end.

Its vector code adds to a product with one rounding, the code for the rest with two. ZeRO cuts flat
tensors anywhere, so the number of ranks decides which elements are which: the same training has
other bits on another number of ranks.
"""

import os
import sys

os.environ["DS_ACCELERATOR"] = "cpu"
import torch
from deepspeed.ops.adam import DeepSpeedCPUAdam

PART, PARTS = 15, 200


def stepped(length: int) -> torch.Tensor:
    """Return what three steps make of the same elements, cut into parts of this length."""
    torch.manual_seed(1)
    weights = torch.randn(PART * PARTS).split(length)
    parts = [torch.nn.Parameter(weight.clone()) for weight in weights]
    optimizer = DeepSpeedCPUAdam(parts, weight_decay=0.01)
    for _ in range(3):  # before the first one moments are zeros, and little rounds
        gradients = torch.randn(PART * PARTS).split(length)
        for part, gradient in zip(parts, gradients, strict=True):
            part.grad = gradient.clone()
        optimizer.step()
    return torch.cat([part.detach() for part in parts])


if __name__ == "__main__":
    torch.set_num_threads(1)
    differ = int((stepped(PART * PARTS) != stepped(PART)).sum())
    print("weights that differ, in one part or in 200: expected 0")
    print(f"weights that differ, in one part or in 200: actual   {differ} of {PART * PARTS}")
    sys.stdout.flush()
    os._exit(differ > 0)
