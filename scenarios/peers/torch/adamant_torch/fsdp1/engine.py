"""FSDP1 behind the seam: flat parameters, whose runs of elements are put together to be shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FullyShardedDataParallel

from adamant_torch import model
from adamant_torch.engine import Engine, known_beside
from adamant_torch.fsdp1 import wrapping
from adamant_torch.fsdp1.scaling import FlatScaling
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening, Overflow
from adamant_torch.rows import PutTogether, Tensors

SHARED = ("implementation", "template", "async_save", "missing_states", "empty_groups")


class FSDP1(PutTogether):
    """FullyShardedDataParallel with original parameters, ShardedGradScaler, DCP."""

    name = "fsdp1"
    known_files = (known_beside(__file__),)

    def __init__(self, opening: Opening, mesh: DeviceMesh, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.scaling = FlatScaling(
            opening.loss_scale, opening.clip, opening.options.get("scaler", "sharded")
        )

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what FSDP1 can; `defaults` are FSDP2's.

        Flat parameters have no place for what has no element. A load has the types of the save.
        What happens to files, by a crash or by damage, is DCP's, of which FSDP2's scenarios tell.
        """
        kept = {key: value for key, value in defaults.items() if key != "load_precisions"}
        return {
            **kept,
            "empty_tensors": False,
            "can_crash": False,
            "other_damage": [],
            "same_options": ["template", "state_dict", "async_save", "strategy"],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return all options with what they accept; the first is the default.

        The last ones choose ways around what is known of FSDP1.
        """
        return {
            **{name: defaults[name] for name in SHARED},
            "state_dict": ["helpers", "flat"],
            "strategy": ["full_shard", "shard_grad_op"],
            "scaler": ["sharded", "unscaled_first"],
            "missing_gradients": ["zeros", "none"],
            "division": ["fsdp1", "once"],
            "alone": ["hybrid", "no_shard"],
        }

    # --- verbs ----------------------------------------------------------------------------------

    def arithmetic(self) -> str:
        """Hold fused steps to an interval.

        They step the runs of elements that a rank has, and not the rows that it shows, so nobody
        here knows which elements their vectors leave over.
        """
        fused = self.opening.options.get("implementation") == "fused"
        return "interval" if fused else super().arithmetic()

    def wrap(self, whole: model.Unit) -> nn.Module:
        """Wrap each unit and the whole."""
        return wrapping.wrap(whole, self.mesh, self.opening)

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build model and optimizer, and learn where this rank's runs begin."""
        super().open(initial)
        self.starts = dict(wrapping.starts(self.fsdp))
        self.cuts = wrapping.cuts(self.fsdp)

    @property
    def fsdp(self) -> FullyShardedDataParallel:
        """The model."""
        return cast(FullyShardedDataParallel, self.model)

    def backward(
        self,
        gradients: Mapping[str, torch.Tensor],
        without: list[str],
        overflow: Overflow | None,
    ) -> None:
        """Run one backward; what FSDP1 makes of a missing gradient is zeros.

        Where nothing is cut, gradients that are there take part in a reduction once more: which
        leaves them what they are if they are divided by the number of ranks, and only then. For
        another mean they are put aside meanwhile.
        """
        drops_missing = self.opening.options.get("missing_gradients") == "none"
        before = {name: parameter.grad for name, parameter in self.parameters.items()}
        aside = not self.cuts and wrapping.divides_once(self.opening)
        if aside:
            self.scaling.before_backward(self.optimizer)
            self.optimizer.zero_grad(set_to_none=True)
        super().backward(gradients, without, None)
        for name, parameter in self.parameters.items():
            earlier = before[name]
            if aside and earlier is not None:
                parameter.grad = earlier if parameter.grad is None else parameter.grad + earlier
            if earlier is None and name in without and drops_missing:
                parameter.grad = None
        if overflow is not None:
            self.overwrite(overflow)

    def overwrite(self, overflow: Overflow) -> None:
        """Set an element of the reduced gradient where this rank, or a replica of it, holds it."""
        parameter = self.parameters[overflow.name]
        at = overflow.index - self.starts[parameter]
        if parameter.grad is not None and 0 <= at < parameter.numel():
            with torch.no_grad():
                parameter.grad.reshape(-1)[at] = overflow.value

    # --- what a rank shows ----------------------------------------------------------------------

    def has_gradient(self, name: str) -> bool:
        """Return whether any rank of the shard group has a gradient of a parameter."""
        return self.wholes()[f"{name}/gradient"] is not None

    def suffixes(self, _: str) -> list[str]:
        """Return what may be there of a parameter: which gradients are, shows in the wholes."""
        return ["", "/gradient", "/exp_avg", "/exp_avg_sq"]

    def whole_tensors(self, name: str) -> Tensors:
        """Return what the ranks of the shard group hold of a parameter, in types of its own."""
        wholes = {suffix: self.wholes()[name + suffix] for suffix in self.suffixes(name)}
        found = {suffix: value for suffix, value in wholes.items() if value is not None}
        return model.with_main(self.opening.precision, found)

    def holders(self) -> dist.ProcessGroup:
        """Return the ranks that a unit's parameters are cut for."""
        return self.mesh.get_group(self.mesh.ndim - 1)

    def own_steps(self, name: str) -> int | None:
        """Return this rank's counter of a parameter of which it holds an element."""
        return Engine.steps(self, name) if self.parameters[name].numel() > 0 else None

    def run(self, name: str) -> tuple[int, Tensors]:
        """Return this rank's run of a parameter, its gradient and moments."""
        parameter = self.parameters[name]
        own = {"": parameter.detach(), **{f"/{key}": at for key, at in self.moments(name).items()}}
        if parameter.grad is not None:
            own["/gradient"] = parameter.grad
        return self.starts[parameter], own if parameter.numel() > 0 else {}
