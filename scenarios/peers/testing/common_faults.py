"""Faults that an adapter's tests plant in its engine, beside those that are the engine's own.

Each is put before the engine: `class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, Mine)`.
"""

from __future__ import annotations

from adamant_torch import Engine


class NoBiasCorrectionOnRankOne(Engine):
    """Rank 1 steps as if it had stepped for ever, once it has any state."""

    def step(self) -> bool:
        """Step with another count of steps on one rank."""
        if self.rank != 1:
            return super().step()
        counted = [state for state in self.optimizer.state.values() if state]
        for state in counted:
            state["step"] += 1_000_000
        applied = super().step()
        for state in counted:
            state["step"] -= 1_000_000
        return applied


class StaleStepAfterLoad(Engine):
    """A load leaves the counters at zero."""

    def load(self, directory: str) -> list[str]:
        """Load, and forget the counters."""
        result = super().load(directory)
        for state in self.optimizer.state.values():
            state["step"] *= 0
        return result
