"""A second moment far below its block's largest is stored as zero, and that weight runs away.

fp8 has nothing below 2^-18 of the largest, the 8-bit map nothing below 1e-7. An element whose
gradients are a thousandth (8 bit: a 3,000th) of a neighbour's has a second moment of one step's
square at each step, and a first moment that is whole: it moves up to sqrt(1 / (1 - beta2)) as far.
With 4 bits, where no code is zero, it hardly moves.
"""

import torch
from shared import end_with_moves


def beside_ones(small: float) -> torch.Tensor:
    """Return gradients that are small in each second column."""
    gradient = torch.ones(64, 64)
    gradient[:, ::2] = small
    return gradient


if __name__ == "__main__":
    all_small = (1e-2, 1e-3, 3e-4)
    end_with_moves({f"{small} beside 1": beside_ones(small) for small in all_small}, steps=1000)
