"""Loss scale and clipping under FSDP1: a rank may have no gradient while others have some."""

from __future__ import annotations

from typing import cast

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler

from adamant_torch.scale import Scaling, gradients


class FlatScaling(Scaling):
    """ShardedGradScaler, FSDP1's own clipping, and verdicts that all ranks reach together.

    `kind` is the option `scaler`: `sharded` steps as PyTorch's users do; `unscaled_first` unscales
    before each step, as clipping does, so that a fused step does not decide on this rank alone.
    """

    def has_gradient(self, optimizer: torch.optim.Optimizer) -> bool:
        """Return whether any parameter has a gradient on any rank. A collective."""
        found = torch.tensor(float(bool(gradients(optimizer))))
        dist.all_reduce(found, op=dist.ReduceOp.MAX)
        return bool(found)

    def clip_gradients(self, model: nn.Module, limit: float) -> torch.Tensor:
        """Clip by FSDP1's method: ranks hold parts of the gradients."""
        return cast(FullyShardedDataParallel, model).clip_grad_norm_(limit)

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Step, unless the scaler finds a gradient that is not finite on any rank."""
        careful = self.kind == "unscaled_first" and self.scaler is not None
        if careful and self.has_gradient(optimizer) and self._stage(optimizer) != "UNSCALED":
            self._bring_to_scale(optimizer)
            self.scaler.unscale_(optimizer)  # type: ignore[union-attr]
            self.unscaled = True
        return super().step(optimizer)

    def _make(self, scale: float = 2.0**16) -> torch.amp.GradScaler:
        kind = ScalarVerdict if self.kind == "unscaled_first" else ShardedGradScaler
        return kind("cpu", init_scale=scale)


class ScalarVerdict(ShardedGradScaler):
    """A scaler whose verdict is 0 or 1 and has no dimension.

    ShardedGradScaler's counts the ranks that found an infinity. A fused step subtracts the verdict
    from its counters, which have no dimension, and is skipped where it is 1 and not where it is 2.
    """

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Unscale, and make the verdict what a fused step takes it for."""
        super().unscale_(optimizer)
        state = self._per_optimizer_states[id(optimizer)]
        found = state["found_inf_per_device"]
        state["found_inf_per_device"] = {
            device: value.clamp(max=1.0).reshape(()) for device, value in found.items()
        }
