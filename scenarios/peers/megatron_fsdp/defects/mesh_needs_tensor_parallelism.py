"""A mesh of the user's own must have a dimension of tensor parallelism.

`tp_dim` is None by default and said to be needed for tensor parallelism and TransformerEngine.
"""

from torch import nn
from without_gpu import mesh, on_ranks, report, sharded


def body(_, ranks):
    sharded(nn.Linear(4, 4, bias=False), ranks, device_mesh=mesh(ranks, "shard"), tp_dim=None)
    return "a model"


if __name__ == "__main__":
    report("a model", on_ranks(1, body), "ValueError")
