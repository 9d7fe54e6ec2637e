"""Engines with one fault each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from adamant_megatron import Engine, Hybrid, stand_ins


class NoCorrectionOnRankOne(Engine):
    """Rank 1 steps as if it had stepped very often: its moments are not corrected."""

    def step(self) -> bool:
        """Step with another counter on rank 1."""
        if self.rank == 1:
            for state in self.optimizer.state.values():
                state["step"].fill_(1000000.0)
        return super().step()


class ForgetsSteps(Engine):
    """A load leaves the step counters at zero."""

    def load(self, directory: str) -> list[str]:
        """Load, and lose the counters."""
        result = super().load(directory)
        for state in self.optimizer.state.values():
            state["step"].zero_()
        return result


class NoGather(Engine):
    """After a step ranks keep what they had of the parameters of others."""

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Open, and turn the gather off."""
        super().open(initial)
        self.ddp.start_param_sync = lambda *_, **__: None


class NotWaitedFor(Hybrid):
    """Nothing waits for copies of parameters back to the device."""

    def step(self) -> bool:
        """Step without waits for streams."""
        wait = stand_ins.Event.wait
        stand_ins.Event.wait = lambda *_: None  # type: ignore[method-assign]
        try:
            return super().step()
        finally:
            stand_ins.Event.wait = wait  # type: ignore[method-assign]


KINDS: dict[str, Any] = {
    kind.__name__: kind for kind in (NoCorrectionOnRankOne, ForgetsSteps, NoGather, NotWaitedFor)
}
