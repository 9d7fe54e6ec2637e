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

SIZE = 111


def stepped(lengths: list[int]) -> torch.Tensor:
    """Return what a step makes of the same elements, cut into parts of these lengths."""
    torch.manual_seed(1)
    weights = torch.randn(SIZE).split(lengths)
    gradients = torch.randn(SIZE).split(lengths)
    parts = [torch.nn.Parameter(weight.clone()) for weight in weights]
    for part, gradient in zip(parts, gradients, strict=True):
        part.grad = gradient.clone()
    DeepSpeedCPUAdam(parts, weight_decay=0.01).step()
    return torch.cat([part.detach() for part in parts])


if __name__ == "__main__":
    torch.set_num_threads(1)
    differ = torch.nonzero(stepped([SIZE]) != stepped([56, 55])).reshape(-1).tolist()
    print("elements that differ, one part or two: expected []")
    print(f"elements that differ, one part or two: actual   {differ}")
    sys.stdout.flush()
    os._exit(bool(differ))
