"""accelerate with a fault planted in it: each must be caught."""

from __future__ import annotations

from typing import Any

import torch

import common_faults
from adamant_accelerate import AccelerateEngine


class NoBiasCorrectionOnRankOne(common_faults.NoBiasCorrectionOnRankOne, AccelerateEngine): ...


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, AccelerateEngine): ...


class StaleRateAfterLoad(AccelerateEngine):
    """A load leaves the learning rate as the job was started with."""

    def load(self, directory: str) -> list[str]:
        """Load, and put the rate back."""
        rates = [group["lr"] for group in self.optimizer.param_groups]
        result = super().load(directory)
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
        return result


class DropsAnAccumulatedBackward(AccelerateEngine):
    """What is accumulated before the last backward is lost."""

    def backward(self, *arguments: Any) -> None:
        """Run only backwards that reduce."""
        right = self.accelerator.backward

        def last_alone(loss: torch.Tensor) -> None:
            if self.accelerator.sync_gradients:
                right(loss)

        self.accelerator.backward = last_alone
        super().backward(*arguments)
        self.accelerator.backward = right


class ClipsByItsOwnNorm(AccelerateEngine):
    """A rank clips by the norm of what it holds."""

    def clip(self) -> float:
        """Clip local gradients."""
        local: list[Any] = [p.grad for p in self.model.parameters() if p.grad is not None]
        norm = torch.nn.utils.get_total_norm([each.to_local() for each in local])
        for each in local:
            each.to_local().mul_(min(1.0, (self.scaling.clip_to or 1.0) / (float(norm) + 1e-6)))
        self.scaling.norm = float(norm)
        return self.scaling.norm
