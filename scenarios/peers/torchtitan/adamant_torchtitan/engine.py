"""torchtitan's OptimizersContainer and CheckpointManager under adamant, on PyTorch's FSDP2.

A save is the manager's, at a step of its own for each, so one checkpoint of a scenario is a folder
of torchtitan's with `step-1`, `step-2` and so on. A load asks it for the latest.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torchtitan.components.checkpoint import CheckpointManager
from torchtitan.components.optimizer import OptimizersContainer, ParamGroupConfig
from torchtitan.distributed.utils import clip_grad_norm_

from adamant_torch import Engine, arithmetic, around
from adamant_torch.engine import known_beside
from adamant_torch.hello import without_scaler
from adamant_torch.protocol import EngineError, Message

Settings = dict[str, Any]
NAMES = {"adam": "Adam", "adamw": "AdamW"}
# Ways around defects of PyTorch's own: looked for in `adamant_torch`, they would hide torchtitan's.
AROUND = {"empty_groups": ["dropped"], "empty_tensors": ["apart"]}


class Nothing:
    """Stands for learning rate schedules and data, of which scenarios have none."""

    def state_dict(self) -> dict[str, Any]:
        """Return that there is nothing."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take nothing."""


class TorchtitanEngine(Engine):
    """torchtitan's optimizer and checkpoints around the model of `adamant_torch`."""

    name = "torchtitan"
    tried: ClassVar = {"torchtitan": ("0.3.0",), "torch": ("2.13.0",)}
    known_files = (known_beside(__file__), *Engine.known_files)

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return PyTorch's capabilities but for loss scales, which torchtitan has none of.

        That flipped bits go unnoticed is DCP's own, and there is no way around it here. Without its
        `.metadata` a checkpoint is none to torchtitan, which loads an older one.
        """
        damage = {"detects_damage": ["truncate"], "other_damage": ["stale_file"]}
        return {**without_scaler(defaults), **damage}

    @classmethod
    def options(cls, _: Message) -> Message:
        """Return torchtitan's options by its own names, and the ways around known defects."""
        return {
            "implementation": ["for-loop", "foreach", "fused"],
            "async_mode": ["disabled", "async"],
            "keep_latest_k": ["10", "2"],
            "missing_states": ["made", "left"],
            **AROUND,
        }

    def arithmetic(self) -> str:
        """Return as PyTorch's does; `for-loop` is its single implementation."""
        if self.opening.options.get("implementation", "for-loop") != "for-loop":
            return super().arithmetic()
        options = {**self.opening.options, "implementation": "single"}
        opening = replace(self.opening, options=options)
        return arithmetic.arithmetic(opening, self.shards().values())

    def make_optimizer(self, groups: list[Settings]) -> torch.optim.Optimizer:
        """Return the one optimizer of a container; its groups are patterns of names there."""
        names = {id(value): name for name, value in self.model.named_parameters()}
        configs = [
            ParamGroupConfig(
                pattern=one_of([names[id(parameter)] for parameter in group["params"]]),
                optimizer_name=NAMES[self.opening.mode],
                optimizer_kwargs={key: value for key, value in group.items() if key != "params"},
            )
            for group in groups
        ]
        implementation: Any = self.opening.options.get("implementation", "for-loop")
        self.container: Any = OptimizersContainer(
            OptimizersContainer.Config(param_groups=configs, implementation=implementation),
            model_parts=[self.model],
        )
        made: list[torch.optim.Optimizer] = self.container.optimizers
        return made[0]  # one a class and model part

    def clip(self) -> float:
        """Clip by torchtitan's function; return the norm before."""
        parameters = list(self.model.parameters())
        return self.scaling.noted(clip_grad_norm_(parameters, self.scaling.clip_to, foreach=True))

    def step(self) -> bool:
        """Step the container."""
        self.container.step()
        return True

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros, by the container."""
        self.container.zero_grad(set_to_none=set_to_none)

    # --- checkpoints ------------------------------------------------------------------------------

    def manager(self, directory: str) -> CheckpointManager:
        """Return a manager of the checkpoints in a folder."""
        options = self.opening.options
        config = CheckpointManager.Config(
            enable=True,
            folder=directory,
            interval=1,
            async_mode=options.get("async_mode", "disabled"),
            keep_latest_k=int(options.get("keep_latest_k", "10")),
            last_save_model_only=False,
        )
        return CheckpointManager(
            config,
            dataloader=None,
            model_parts=[self.model],
            optimizers=self.container,
            lr_schedulers=Nothing(),
            states={},
            sd_adapter=None,
        )

    def save(self, directory: str) -> list[str]:
        """Write the next step's checkpoint, together with the other ranks, and wait for it."""
        around.make_states_unless_left(self.opening.options, self.optimizer)
        manager = self.manager(directory)
        number = 1 + latest(directory)
        dist.barrier()  # each has looked before any of them writes
        if not manager.save(number):
            raise EngineError("save: torchtitan's manager did not save")
        manager.maybe_wait_for_staging()
        manager.maybe_wait_for_saving()
        let_go(manager)
        return ["clip"]

    def load(self, directory: str) -> list[str]:
        """Read the latest checkpoint, together with the other ranks."""
        around.make_states_unless_left(self.opening.options, self.optimizer)
        manager = self.manager(directory)
        if not manager.load():
            raise EngineError("load: torchtitan's manager found nothing to load")
        let_go(manager)
        return ["clip"]


def let_go(manager: CheckpointManager) -> None:
    """End a manager's threads and its process group."""
    manager.close()
    if manager.pg is not None:
        dist.destroy_process_group(manager.pg)


def one_of(names: list[str]) -> str:
    """Return a pattern that matches these names and no others."""
    return f"^(?:{'|'.join(re.escape(name) for name in names)})$"


def latest(directory: str) -> int:
    """Return the number of the latest folder of a step, whole or not; 0 without any."""
    found = [int(path.name.removeprefix("step-")) for path in Path(directory).glob("step-*")]
    return max(found, default=0)
