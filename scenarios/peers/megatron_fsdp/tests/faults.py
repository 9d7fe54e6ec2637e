"""Megatron-FSDP with a fault planted in it: each must be caught."""

from __future__ import annotations

from typing import Any

import torch.distributed

import common_faults
from adamant_megatron_fsdp import MegatronFsdpEngine


class NoBiasCorrectionOnRankOne(common_faults.NoBiasCorrectionOnRankOne, MegatronFsdpEngine): ...


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, MegatronFsdpEngine): ...


class ModelNotRefreshed(MegatronFsdpEngine):
    """The weights that were stepped do not reach the model."""

    def step(self) -> bool:
        """Step the optimizer alone."""
        optimizer: Any = self.optimizer
        optimizer.step(install_optimized_model_weights=False)
        return True


class NotReduced(MegatronFsdpEngine):
    """Each rank steps with its own gradient, as many times as there are ranks."""

    def backward(self, *arguments: Any) -> None:
        """Replace the collective while a backward runs."""
        collectives: Any = torch.distributed
        right = collectives.reduce_scatter_tensor

        def own_part(output: Any, input: Any, **_: Any) -> None:
            output.copy_(input.view(self.opening.shard, -1)[self.rank % self.opening.shard])
            output.mul_(self.opening.shard)

        collectives.reduce_scatter_tensor = own_part
        super().backward(*arguments)
        collectives.reduce_scatter_tensor = right
