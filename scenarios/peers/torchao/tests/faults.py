"""torchao with a fault planted in it: each must be caught."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
from torchao.optim import adam
from torchao.optim.subclass_8bit import OptimState8bit

import common_faults
from adamant_torchao import TorchaoEngine

right = adam.single_param_adam


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, TorchaoEngine): ...


class NoBiasCorrectionOnRankOne(TorchaoEngine):
    """Rank 1 steps as if it had stepped for ever."""

    def step(self) -> bool:
        """Step with another count of steps on one rank."""

        def wrong(p: Any, grad: Any, step: torch.Tensor, *others: Any) -> None:
            right(p, grad, step + 1e6 if self.rank == 1 else step, *others)

        adam.single_param_adam = wrong
        try:
            return super().step()
        finally:
            adam.single_param_adam = right


class RatesDoNotFollow(TorchaoEngine):
    """A `set` gives the group a tensor of its own, and the step reads the old one."""

    def set(self, change: dict[str, Any]) -> None:
        """Report the new rate and keep the old one."""
        rates = [group["lr"].clone() for group in self.optimizer.param_groups]
        super().set(change)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"].copy_(rate)


class DropsAScale(TorchaoEngine):
    """The second block of each quantised state has the scale of the first on the last rank."""

    def step(self) -> bool:
        """Step, and spoil."""
        result = super().step()
        for state in self.optimizer.state.values():
            local = state["exp_avg"].to_local()
            if isinstance(local, OptimState8bit) and self.rank == dist.get_world_size() - 1:
                local.scale[1] = local.scale[0]
        return result


class LoadsOneCodeBeside(TorchaoEngine):
    """Loaded codes are one beside those that were saved."""

    def load(self, directory: str) -> list[str]:
        """Load, and spoil."""
        result = super().load(directory)
        for state in self.optimizer.state.values():
            local = state["exp_avg_sq"].to_local()
            if isinstance(local, OptimState8bit):
                local.codes[0, 0] += 1
        return result
