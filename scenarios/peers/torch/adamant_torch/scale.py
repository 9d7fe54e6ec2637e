"""Loss scale and clipping: GradScaler, the norm, and what both do to gradients in place.

PyTorch unscales and clips the gradients where they lie. A gradient that a step leaves behind is
therefore unscaled; before anything is added to it or it is stepped again it gets the current
scale, which is exact where the scale is a power of two.
"""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import nn
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.distributed.tensor import DTensor

from adamant_torch.protocol import Message, ProtocolError, number
from adamant_torch.several import parts
from adamant_torch.shards import local

NEVER = 2**31 - 1  # the growth interval of a fixed scale: by it a checkpoint tells which it is


class Scaling:
    """The loss scale of a world, its verdicts, and the norm to clip to."""

    def __init__(
        self,
        loss_scale: float | str,
        clip: float | None,
        kind: str = "dtensor",
        verdicts: str = "apart",
    ) -> None:
        self.kind = kind
        self.verdicts = verdicts
        self.scaler: torch.amp.GradScaler | None = None
        self.shards: dict[torch.optim.Optimizer, LocalShards] = {}
        self.clip_to = clip
        self.norm = 0.0
        self.skipped = False
        self.unscaled = False  # the gradients that are there bear no scale
        self.set_loss_scale(loss_scale)

    def set_loss_scale(self, loss_scale: float | str) -> None:
        """Begin, change or end the loss scale."""
        self.skipped = False
        if loss_scale == "none":
            self.scaler = None
        elif loss_scale == "dynamic":
            self.scaler = self._make()
        else:
            self.scaler = self._make(float(loss_scale))
            self.scaler.set_growth_interval(NEVER)

    def loaded(self) -> None:
        """Take note that there is no verdict yet."""
        self.skipped = False

    def value(self) -> float:
        """Return the current scale; 1 where there is none."""
        return float(self.scaler.get_scale()) if self.scaler is not None else 1.0

    def scale(self, loss: torch.Tensor) -> torch.Tensor:
        """Return the loss that the backward starts from."""
        return self.scaler.scale(loss) if self.scaler is not None else loss

    def before_backward(self, optimizer: torch.optim.Optimizer) -> None:
        """Bring gradients that are already there to the scale of those that will be added."""
        self._bring_to_scale(optimizer)
        self.unscaled = False

    def clip(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> float:
        """Clip to the norm that was set and return the norm before."""
        if self.clip_to is None:
            raise ProtocolError("clip: no norm to clip to was set")
        if self.scaler is not None and not self.unscaled:
            for seen in self._judged(optimizer):
                self.scaler.unscale_(seen)
                self.unscaled = True
        return self.noted(self.clip_gradients(model, self.clip_to))

    def noted(self, norm: torch.Tensor) -> float:
        """Take note of the norm that gradients were clipped by, and return it as a number."""
        self.norm = float(norm.full_tensor() if isinstance(norm, DTensor) else norm)
        return self.norm

    def step(self, optimizer: torch.optim.Optimizer) -> bool:
        """Step, unless the scaler finds a gradient that is not finite; return whether it did.

        GradScaler asserts where no parameter has a gradient; such a step goes past it.
        """
        self.skipped = False
        judged = self._judged(optimizer) if self.scaler is not None else []
        if self.scaler is None or not judged:
            optimizer.step()
            return True
        if self.unscaled and self._stage(judged[0]) == "READY":
            self._bring_to_scale(optimizer)
        by_itself = getattr(judged[0], "_step_supports_amp_scaling", False)
        if self.judges_together(optimizer):
            for seen in judged:
                if self._stage(seen) == "READY":
                    self.scaler.unscale_(seen)
            self.skipped, self.unscaled = self._found(judged), True
        for seen in () if self.skipped else judged:
            self.scaler.step(seen)
        self.skipped = self._found(judged)
        update(self.scaler)
        # A fused step unscales by itself, and leaves everything alone where it is skipped.
        self.unscaled = self.unscaled or not (by_itself and self.skipped)
        return not self.skipped

    def unscales_before_steps(self, optimizer: torch.optim.Optimizer) -> bool:
        """Return whether a fused step never divides by the loss scale itself."""
        return self.kind == "local" or self.judges_together(optimizer)

    def judges_together(self, optimizer: torch.optim.Optimizer) -> bool:
        """Return whether gradients are unscaled before any step, also one that could do that."""
        return self.verdicts == "together" and len(parts(optimizer)) > 1

    def has_gradient(self, optimizer: torch.optim.Optimizer) -> bool:
        """Return whether any parameter has a gradient, alike on all ranks."""
        return bool(gradients(optimizer))

    def clip_gradients(self, model: nn.Module, limit: float) -> torch.Tensor:
        """Clip the gradients by their global norm, and return that."""
        return torch.nn.utils.clip_grad_norm_(model.parameters(), limit)

    def gradients_gone(self) -> None:
        """Take note that the next backward starts from nothing or from zeros."""
        self.unscaled = False

    def report(self) -> Message:
        """Return loss scale, last verdict, last norm and growth tracker."""
        tracker = self.scaler._get_growth_tracker() if self.scaler is not None else 0
        return {
            "loss_scale": number(self.value()),
            "skipped": self.skipped,
            "norm": number(self.norm),
            "growth_tracker": int(tracker),
            "gradients_unscaled": self.unscaled,
        }

    def _make(self, scale: float = 2.0**16) -> torch.amp.GradScaler:
        """Return a scaler of the kind asked for; see the option `scaler`."""
        if self.kind == "dtensor":
            return torch.amp.GradScaler("cpu", init_scale=scale)
        return ShardedGradScaler("cpu", init_scale=scale)

    def _judged(self, optimizer: torch.optim.Optimizer) -> list[torch.optim.Optimizer]:
        """Return the optimizers with gradients as the scaler sees them, which judges each apart."""
        return [self._seen(each) for each in parts(optimizer) if self.has_gradient(each)]

    def _seen(self, optimizer: torch.optim.Optimizer) -> torch.optim.Optimizer:
        """Return the optimizer as the scaler sees it; the same for the same optimizer."""
        if self.kind != "local":
            return optimizer
        seen = self.shards.setdefault(optimizer, LocalShards(optimizer))
        return cast(torch.optim.Optimizer, seen)

    def _stage(self, seen: torch.optim.Optimizer) -> str:
        return str(self._of_scaler(seen)["stage"].name)

    def _found(self, judged: list[torch.optim.Optimizer]) -> bool:
        """Return whether the scaler found a gradient that is not finite in any of these."""
        states = [self._of_scaler(seen)["found_inf_per_device"] for seen in judged]
        return any(float(value) != 0.0 for found in states for value in found.values())

    def _of_scaler(self, seen: torch.optim.Optimizer) -> dict[str, Any]:
        states = cast(torch.amp.GradScaler, self.scaler)._per_optimizer_states
        return states[id(seen)]

    def _bring_to_scale(self, optimizer: torch.optim.Optimizer) -> None:
        if self.scaler is not None and self.unscaled:
            rescale(self.scaler, optimizer)


class LocalShards:
    """What a scaler uses of an optimizer, over this rank's shards as plain tensors."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer = optimizer

    @property
    def param_groups(self) -> list[dict[str, Any]]:
        """Return the gradients' shards, each as the gradient of a parameter."""
        return [{"params": [shard_with(gradient) for gradient in gradients(self.optimizer)]}]

    def step(self) -> None:
        """Step on the gradients, which the scaler has unscaled where they lie."""
        self.optimizer.step()


def update(scaler: torch.amp.GradScaler) -> None:
    """Have a scale grow or shrink after a step, but one that is fixed."""
    scaler.update(scaler.get_scale() if scaler.get_growth_interval() == NEVER else None)


def rescale(scaler: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
    """Bring gradients that were unscaled to the scale of those that will be added."""
    with torch.no_grad():
        for gradient in gradients(optimizer):
            gradient.mul_(scaler.get_scale())


def shard_with(gradient: torch.Tensor) -> torch.Tensor:
    """Return a tensor whose gradient is this rank's part of `gradient`, in the same memory."""
    part = local(gradient)
    owner = torch.empty_like(part)
    owner.grad = part
    return owner


def gradients(optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
    """Return the gradients that are there."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    return [p.grad for p in parameters if p.grad is not None]
