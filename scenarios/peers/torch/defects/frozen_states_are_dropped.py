"""`set_optimizer_state_dict` drops the states of parameters that are frozen.

They are in the state dict. A layer that trains again after the load begins with moments of nothing.
"""

import sys

import torch
from torch import nn
from torch.distributed.checkpoint.state_dict import (
    get_optimizer_state_dict,
    set_optimizer_state_dict,
)

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
model(torch.ones(1, 2)).sum().backward()
optimizer.step()
optimizer.zero_grad()
model[1].requires_grad_(False)
saved = get_optimizer_state_dict(model, optimizer)
expected = sorted(saved["state"])
set_optimizer_state_dict(model, optimizer, saved)
actual = sorted(name for name, p in model.named_parameters() if optimizer.state.get(p))
print(f"parameters with a state after the load: expected {expected}, actual {actual}")
sys.exit(actual != expected)
