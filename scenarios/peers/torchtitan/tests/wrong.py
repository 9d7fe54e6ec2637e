"""torchtitan with a fault planted in it: each must be caught."""

from __future__ import annotations

from typing import Any

import torch
from torchtitan.components.checkpoint import ModelWrapper

from adamant_torchtitan import TorchtitanEngine


class NoBiasCorrectionOnRankOne(TorchtitanEngine):
    """Rank 1 steps as if it had stepped for ever."""

    def step(self) -> bool:
        """Step with another count of steps on one rank."""
        if self.rank != 1:
            return super().step()
        self._count(1e6)
        result = super().step()
        self._count(-1e6)
        return result

    def _count(self, more: float) -> None:
        if not self.optimizer.state:
            self._make_states()
        for state in self.optimizer.state.values():
            state["step"] += more


class StaleStepAfterLoad(TorchtitanEngine):
    """A load leaves the counters at zero."""

    def load(self, directory: str) -> list[str]:
        """Load, and forget the counters."""
        result = super().load(directory)
        for state in self.optimizer.state.values():
            state["step"] = torch.zeros_like(state["step"])
        return result


class SavesFirstWeights(TorchtitanEngine):
    """The cache of the model's state dict has the weights that it was made with."""

    def open(self, initial: Any) -> None:
        """Open, and keep a copy."""
        super().open(initial)
        self.first = {name: value.clone() for name, value in self.model.state_dict().items()}

    def save(self, directory: str) -> list[str]:
        """Save the copy for the model."""
        right = ModelWrapper.state_dict
        ModelWrapper.state_dict = lambda _: self.first
        try:
            return super().save(directory)
        finally:
            ModelWrapper.state_dict = right
