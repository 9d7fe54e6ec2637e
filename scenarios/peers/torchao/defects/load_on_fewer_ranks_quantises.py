"""A load on fewer ranks rounds fp32 moments to a few bits and says nothing.

Whether a state is quantised depends on how many elements one rank has. 16 rows of 256 on two ranks
are fp32; on one rank they are 4,096 elements, and what is loaded is quantised.
"""

import torch
import torch.distributed.checkpoint as dcp
from shared import end_with_worlds
from torch.distributed.checkpoint.state_dict import get_optimizer_state_dict
from torch.distributed.fsdp import fully_shard
from torchao.optim import AdamW4bit

SAVED_ON, LOADED_ON = 2, 1


def run(rank: int, ranks: int, folder: str) -> bool:
    """Return whether a rank of the world that loads has other moments than were saved."""
    model = torch.nn.Linear(256, 16, bias=False)
    fully_shard(model)
    optimizer = AdamW4bit(model.parameters(), lr=0.1)
    model(torch.linspace(0.5, 1, 256).reshape(1, 256)).sum().backward()
    optimizer.step()
    state = {"optim": get_optimizer_state_dict(model, optimizer)}
    local = optimizer.state[model.weight]["exp_avg"].to_local()
    if ranks == SAVED_ON:
        if rank == 0:
            torch.save(local[0], f"{folder}/expected")
        dcp.save(state, checkpoint_id=f"{folder}/checkpoint")
        return False
    dcp.load(state, checkpoint_id=f"{folder}/checkpoint")
    expected, actual = torch.load(f"{folder}/expected"), local.dequantize()[0]
    worst = ((actual - expected).abs() / expected.abs()).max().item()
    print(f"moments of row 0: expected {expected[:4].tolist()}, or a word of another type")
    print(f"                  actual   {actual[:4].tolist()}; up to {100 * worst:.0f} % beside")
    return worst > 1e-6


if __name__ == "__main__":
    end_with_worlds(run, SAVED_ON, LOADED_ON)
