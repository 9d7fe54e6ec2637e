"""A save before the first step makes Adam's state by a step, which counts; with eps 0 it makes NaN.

The step has a learning rate of 0 and gradients of 0: 0 times 0 / (0 + eps) is no number for eps 0.
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
    """Save before the first step, with two values of eps."""
    model, optimizer, manager = make(folder)
    manager.save(1)
    count = int(optimizer.optimizers[0].state[model.weight]["step"])
    print(f"step counter after a save: expected 0, actual {count}")
    model, _, manager = make(folder + "2", eps=0.0)
    manager.save(1)
    whole = bool(model.weight.isfinite().all())
    print(f"weights are finite after a save with eps 0: expected True, actual {whole}")
    return count != 0 or not whole


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as place:
        found = show(f"{place}/checkpoint")
    sys.stdout.flush()
    os._exit(found)
