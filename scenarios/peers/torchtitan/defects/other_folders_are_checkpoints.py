"""A folder that has `step-` and a number anywhere in its name is taken for a checkpoint.

One that a user put aside is deleted by the next save, and one with a larger number keeps the
latest checkpoint from being loaded.
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
    """Put one checkpoint aside and save on; copy one under a larger number and load."""
    model, optimizer, manager = make(folder, keep=2)
    step(model, optimizer)
    manager.save(1)
    os.rename(f"{folder}/step-1", f"{folder}/best-of-step-1")
    for number in 2, 3:
        manager.save(number)
    manager.close()
    kept = os.path.exists(f"{folder}/best-of-step-1")
    print(f"is what was put aside still there? expected True, actual {kept}")
    model, _, manager = make(folder)
    os.rename(f"{folder}/step-2", f"{folder}/step-7.old")
    try:
        loaded = str(manager.load())
    except FileNotFoundError as error:
        loaded = f"{type(error).__name__}: {error}"
    print(f"load of the latest: expected True, actual {loaded[:90]}")
    return not kept or loaded != "True"


if __name__ == "__main__":
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as place:
        found = show(f"{place}/checkpoint")
    sys.stdout.flush()
    os._exit(found)
