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
from adamant_torch.engine import Engine
from adamant_torch.fsdp1 import hello, wrapping
from adamant_torch.fsdp1.pieces import Piece, put_together, rows_of
from adamant_torch.fsdp1.scaling import FlatScaling
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening, Overflow
from adamant_torch.shards import Shard

SUFFIXES = ("", "/gradient", "/exp_avg", "/exp_avg_sq")
Wholes = dict[str, dict[str, torch.Tensor]]  # by parameter, by suffix


class FSDP1(Engine):
    """FullyShardedDataParallel with original parameters, ShardedGradScaler, DCP."""

    name = "fsdp1"

    def __init__(self, opening: Opening, mesh: DeviceMesh, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.scaling = FlatScaling(
            opening.loss_scale, opening.clip, opening.options.get("scaler", "sharded")
        )
        self.group: dist.ProcessGroup = mesh.get_group(mesh.ndim - 1)  # of the shards
        self.wholes: Wholes | None = None  # since the last verb
        self.counters: dict[str, int] = {}  # the most steps of each parameter, with `wholes`

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what FSDP1 can do."""
        return hello.capabilities(defaults)

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the choices of this engine."""
        return hello.options(defaults)

    @classmethod
    def known(cls, default: str) -> str:
        """Return the file of what is known of FSDP1."""
        return str(hello.KNOWN)

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
        self.wholes = None
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
            if earlier is None and name in without and self.drops_missing():
                parameter.grad = None
        if overflow is not None:
            self.overwrite(overflow)

    def drops_missing(self) -> bool:
        """Whether a gradient of zeros is taken away where the loss did not have the parameter."""
        return self.opening.options.get("missing_gradients") == "none"

    def overwrite(self, overflow: Overflow) -> None:
        """Set an element of the reduced gradient where this rank, or a replica of it, holds it."""
        parameter = self.parameters[overflow.name]
        at = overflow.index - self.starts[parameter]
        if parameter.grad is not None and 0 <= at < parameter.numel():
            with torch.no_grad():
                parameter.grad.reshape(-1)[at] = overflow.value

    def clip(self) -> float:
        """Clip; return the norm before."""
        self.wholes = None
        return super().clip()

    def step(self) -> bool:
        """Step; return whether all ranks did."""
        self.wholes = None
        return super().step()

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros."""
        self.wholes = None
        super().zero_grad(set_to_none)

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint, which may make states."""
        self.wholes = None
        return super().save(directory)

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint."""
        self.wholes = None
        return super().load(directory)

    # --- what a rank shows ----------------------------------------------------------------------

    def shards(self) -> dict[str, Shard]:
        """Return the rows that this rank shows of what the ranks hold together."""
        index = self.rank % self.opening.shard
        return {p.name: rows_of(p.shape, index, self.opening.shard) for p in self.opening.params}

    def has_gradient(self, name: str) -> bool:
        """Return whether any rank of the shard group has a gradient of a parameter."""
        return "/gradient" in self.seen()[name]

    def tensors(self, name: str, *, whole: bool) -> dict[str, torch.Tensor]:
        """Return what belongs to a parameter: rows of it, or the whole."""
        rows = self.shards()[name]
        begin, count = rows.offsets[0], rows.shape[0]
        found = self.seen()[name]
        if not whole:
            found = {suffix: value[begin : begin + count] for suffix, value in found.items()}
        return model.with_main(self.opening.precision, found)

    def steps(self, name: str) -> int:
        """Return this rank's counter, or that of the others where it holds no element."""
        self.seen()
        own = self.parameters[name].numel() > 0
        return super().steps(name) if own else self.counters[name]

    def seen(self) -> Wholes:
        """Return all tensors, put together once after each verb. A collective then."""
        if self.wholes is None:
            self.wholes = self._gather()
        return self.wholes

    def _gather(self) -> Wholes:
        names = list(self.parameters)
        counters = torch.tensor([super(FSDP1, self).steps(name) for name in names])
        dist.all_reduce(counters, op=dist.ReduceOp.MAX, group=self.group)
        self.counters = dict(zip(names, counters.tolist(), strict=True))
        pieces = [piece for param in self.opening.params for piece in self._pieces(param.name)]
        if not self.cuts:
            return self._found([piece.values for piece in pieces])
        return self._found(put_together(pieces, self.group))

    def _pieces(self, name: str) -> list[Piece]:
        """Return what this rank holds of a parameter, its gradient and its moments."""
        parameter = self.parameters[name]
        shape = next(param.shape for param in self.opening.params if param.name == name)
        own = {"": parameter.detach(), "/gradient": parameter.grad}
        own.update({f"/{key}": value for key, value in self.moments(name).items()})
        if self.cuts and parameter.numel() == 0:
            own = {}
        dtype, start = model.weight_dtype(self.opening.precision), self.starts[parameter]
        return [Piece(f"{name}{s}", shape, dtype, start, own.get(s)) for s in SUFFIXES]

    def _found(self, tensors: list[torch.Tensor | None]) -> Wholes:
        wholes: Wholes = {}
        for index, param in enumerate(self.opening.params):
            own = tensors[index * len(SUFFIXES) :]
            wholes[param.name] = {
                suffix: value.detach().reshape(param.shape).clone()
                for suffix, value in zip(SUFFIXES, own, strict=False)
                if value is not None
            }
        return wholes
