"""torchtitan with a fault planted in it: each must be caught."""

from __future__ import annotations

from typing import Any

from torchtitan.components.checkpoint import ModelWrapper

import common_faults
from adamant_torchtitan import TorchtitanEngine


class NoBiasCorrectionOnRankOne(common_faults.NoBiasCorrectionOnRankOne, TorchtitanEngine): ...


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, TorchtitanEngine): ...


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
