"""DeepSpeed with faults planted in it. Each is caught by a scenario that the engine passes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest import mock

import torch
import torch.distributed as dist

import common_faults
from adamant_deepspeed.engine import ZeroEngine


class NoBiasCorrectionOnRankOne(common_faults.NoBiasCorrectionOnRankOne, ZeroEngine): ...


class StaleStepAfterLoad(common_faults.StaleStepAfterLoad, ZeroEngine): ...


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
