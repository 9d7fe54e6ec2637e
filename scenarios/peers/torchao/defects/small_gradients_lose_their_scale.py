"""A quantised second moment has a scale of 1e-12 or more; gradients below 1e-5 need smaller ones.

The floor belongs to quotients that would be by zero, and is one for first and second moments. The
square of a gradient of 1e-6 times 1 - beta2 is 1e-15: of a block like that few codes are left.
"""

import torch
from shared import end_with_moves

if __name__ == "__main__":
    end_with_moves({str(x): torch.full((64, 64), x) for x in (1e-4, 1e-6, 1e-7)}, steps=200)
