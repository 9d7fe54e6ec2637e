"""Engines with one fault each."""

from __future__ import annotations

from collections.abc import Mapping

import torch

import common_faults
from adamant_megatron import Engine, Hybrid, stand_ins


class NoBiasCorrectionOnRankOne(common_faults.NoBiasCorrectionOnRankOne, Engine): ...


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, Engine): ...


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
