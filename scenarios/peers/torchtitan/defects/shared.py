"""For the scripts beside this one: jobs of one rank, with a layer, its optimizer and a manager."""

import os
import sys
import tempfile
import traceback

import torch
import torch.distributed as dist
from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.optimizer import OptimizersContainer, ParamGroupConfig

# What fails and is not the defect ends with 2.
sys.excepthook = lambda *error: (traceback.print_exception(*error), os._exit(2))


class Nothing:
    """Stands for schedules, of which there are none."""

    def state_dict(self) -> dict:
        """Return nothing."""
        return {}

    def load_state_dict(self, _: dict) -> None:
        """Take nothing."""


def job(folder: str, keep: int = 0) -> tuple:
    """Return what a job begins with: a layer, its optimizer and a manager of its checkpoints."""
    model = torch.nn.Linear(2, 2, bias=False)
    group = ParamGroupConfig(
        pattern=".*", optimizer_name="AdamW", optimizer_kwargs={"lr": 0.1, "eps": 1e-8}
    )
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


def end_with(show) -> None:
    """End with 1 where `show`, which is given a folder, finds the defect, else with 0."""
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    with tempfile.TemporaryDirectory() as place:
        found = show(f"{place}/checkpoint")
    sys.stdout.flush()
    os._exit(found)
