"""`average_in_collective=True` fails for a model without experts.

The factor of experts is computed in any case, from a group that is not there.
"""

from torch import nn
from without_gpu import on_ranks, report, sharded


def body(_, ranks):
    model = nn.Linear(4, 4, bias=False)
    sharded(model, ranks, average_in_collective=True, calculate_per_token_loss=False)
    return "a model"


if __name__ == "__main__":
    report("a model", on_ranks(1, body), "AttributeError: 'NoneType'")
