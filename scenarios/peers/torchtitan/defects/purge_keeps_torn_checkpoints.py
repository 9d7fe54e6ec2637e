"""Folders without a checkpoint count as the latest ones, so a save can delete what it has written.

A job that saved at steps 10 and 20 died in both. It is started from its beginning, and saves at 5:
the two latest are kept, which are torn, and the new one goes.
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
    """Save beside two torn checkpoints of later steps."""
    model, optimizer, manager = make(folder, keep=2)
    for torn in 10, 20:
        os.makedirs(f"{folder}/step-{torn}")
    step(model, optimizer)
    manager.save(5)
    manager.close()  # waits for the thread that deletes
    there = sorted(os.listdir(folder))
    print(f"folders after a save at step 5: expected step-5 among them, actual {there}")
    return "step-5" not in there


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as place:
        found = show(f"{place}/checkpoint")
    sys.stdout.flush()
    os._exit(found)
