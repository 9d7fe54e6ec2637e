"""The last save holds weights alone by default, is the latest, and no next job can load it.

A job that ended well and is started again with more steps stops at its load, although a whole
checkpoint lies beside.
"""

import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.optimizer import OptimizersContainer, ParamGroupConfig


class Nothing:
    """Stands for schedules, of which there are none."""

    def state_dict(self) -> dict:
        """Return nothing."""
        return {}

    def load_state_dict(self, _: dict) -> None:
        """Take nothing."""


def make(folder: str, eps: float = 1e-8, keep: int = 0) -> tuple:
    """Return a layer, its optimizer and a manager of its checkpoints."""
    model = torch.nn.Linear(2, 2, bias=False)
    settings = {"lr": 0.1, "eps": eps}
    group = ParamGroupConfig(pattern=".*", optimizer_name="AdamW", optimizer_kwargs=settings)
    config = OptimizersContainer.Config(param_groups=[group], implementation="for-loop")
    optimizer = OptimizersContainer(config, model_parts=[model])
    manager = CheckpointManager(
        CheckpointManager.Config(enable=True, folder=folder, interval=1, keep_latest_k=keep),
        dataloader=None,
        model_parts=[model],
        optimizers=optimizer,
        lr_schedulers=Nothing(),
        states={},
        sd_adapter=None,
    )
    return model, optimizer, manager


def step(model: torch.nn.Module, optimizer: OptimizersContainer) -> None:
    """Step once."""
    model.weight.grad = torch.ones_like(model.weight)
    optimizer.step()
    optimizer.zero_grad()


def show(folder: str) -> bool:
    """Save a whole checkpoint and a last one; load in a new job."""
    model, optimizer, manager = make(folder)
    step(model, optimizer)
    manager.save(1)
    step(model, optimizer)
    manager.save(2, last_step=True)
    _, _, manager = make(folder)
    try:
        loaded = str(manager.load())
    except BaseException as error:
        loaded = str(error).strip().splitlines()[-1]
    print(f"load in the next job: expected True, actual {loaded}")
    return loaded != "True"


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as place:
        found = show(f"{place}/checkpoint")
    sys.stdout.flush()
    os._exit(found)
