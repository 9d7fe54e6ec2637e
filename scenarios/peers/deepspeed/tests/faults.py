"""DeepSpeed with faults planted in it. Each is caught by a scenario that the engine passes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

from adamant_deepspeed.engine import ZeroEngine
from adamant_torch.protocol import Message


class NoBiasCorrection(ZeroEngine):
    """Rank 1 forgets how many steps it has taken: its corrections are those of a late step."""

    def step(self) -> bool:
        """Step; PyTorch's Adam on rank 1 believes that this is step 100,000."""
        if self.rank == 1:
            for flat in self.parts.weights():
                state = self.optimizer.state.get(flat)
                if state:
                    state["step"] += 100_000
            applied = super().step()
            for flat in self.parts.weights():
                state = self.optimizer.state[flat]
                if state["step"] > 100_000:
                    state["step"] -= 100_000
            return applied
        return super().step()


class StaleStep(ZeroEngine):
    """A load brings weights and moments, and the counter stays what it was before."""

    def load(self, directory: str) -> list[str]:
        """Load; then count from the beginning."""
        carried = super().load(directory)
        for state in self.optimizer.state.values():
            state["step"] = state["step"] * 0
        return carried


class ModelNotRefreshed(ZeroEngine):
    """Ranks do not gather each other's weights after a step of ZeRO 1 or 2."""

    def step(self) -> bool:
        """Step, with DeepSpeed's gather of parameters taken out."""
        from deepspeed.runtime.zero import stage_1_and_2

        with mock.patch.object(stage_1_and_2, "all_gather_dp_groups", lambda **_: None):
            return super().step()


class PartAsWhole(ZeroEngine):
    """A universal load takes each rank's part from the beginning of the parameter."""

    def load(self, directory: str) -> list[str]:
        """Load, with the offset of each fragment forgotten."""
        carried = super().load(directory)
        if dist.get_world_size() > 1:
            for flat in self.parts.weights():
                part = flat.data.clone()
                dist.broadcast(part, src=0)
                flat.data.copy_(part)
        return carried


class NotReduced(ZeroEngine):
    """Gradients are not summed over ranks."""

    def backward(
        self, gradients: Mapping[str, torch.Tensor], without: list[str], overflow: Any
    ) -> None:
        """Run the backward with all-reduce taken out of DeepSpeed's communication."""
        import deepspeed.comm as comm

        with mock.patch.object(comm, "all_reduce", lambda *_, **__: None):
            super().backward(gradients, without, overflow)


class NamesNothing(ZeroEngine):
    """DeepSpeed as it is, of which nothing is known; its options may come from the environment."""

    @classmethod
    def known(cls, default: str) -> str | None:
        """Return no file."""
        return None

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the options, `ADAMANT_OPTIONS` (name=value,…) alone where that says so."""
        offered = super().options(defaults)
        for item in filter(None, os.environ.get("ADAMANT_OPTIONS", "").split(",")):
            name, value = item.split("=")
            offered[name] = [value]
        return offered
