"""Small tensors of a unit are put behind each other without regard to rows.

Rows of 4 and of 3 elements are fitted into chunks of 12. Tensors smaller than that are put one
behind the other, so the end of a rank's part falls into a row, and the part is no matrix. The
layout of `megatron_fsdp.experimental` begins each tensor at a multiple of its rows.
"""

import torch
from torch import nn
from without_gpu import on_ranks, report, sharded


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.ones(2, 4))
        self.b = nn.Parameter(torch.ones(2, 3))


def body(_, ranks):
    sharded(Two(), ranks)
    return "a model"


if __name__ == "__main__":
    report("a model", on_ranks(2, body))
