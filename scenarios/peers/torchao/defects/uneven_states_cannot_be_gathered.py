"""`full_tensor()` of a quantised state fails where ranks have different numbers of rows.

DTensor pads the shorter ones, and that operation is not there. So a full state dict cannot be had.
"""

import torch
from shared import end_with_worlds
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW8bit

RANKS, ROWS = 2, 65


def run(rank: int, ranks: int, folder: str) -> bool:
    """Return whether a rank fails."""
    model = torch.nn.Linear(256, ROWS, bias=False)
    fully_shard(model)
    optimizer = AdamW8bit(model.parameters(), lr=0.1)
    model(torch.ones(1, 256)).sum().backward()
    optimizer.step()
    fails = False
    try:
        whole = StateDictOptions(full_state_dict=True)
        state = get_optimizer_state_dict(model, optimizer, options=whole)["state"]
        actual = f"a tensor of {tuple(state['weight']['exp_avg'].shape)}"
    except Exception as error:
        actual, fails = f"{type(error).__name__}: {str(error)[:100]}", True
    print(f"rank {rank}: expected a tensor of {(ROWS, 256)} or nothing, actual {actual}")
    return fails


if __name__ == "__main__":
    end_with_worlds(run, RANKS)
