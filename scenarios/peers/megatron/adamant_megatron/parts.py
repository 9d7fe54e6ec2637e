"""Which parts of the model a rank owns, and what it shows of them to `adamant_torch`'s seam."""

from __future__ import annotations

from typing import Any

import torch
from megatron.core import parallel_state
from megatron.core.optimizer.distrib_optimizer import DistributedOptimizer

import adamant_torch
from adamant_megatron import settings
from adamant_megatron.view import Piece, put_together, rows_of
from adamant_torch.model import DTYPES, weight_dtype
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening
from adamant_torch.shards import Shard

MOMENTS = ("exp_avg", "exp_avg_sq")


class Parts(adamant_torch.Engine):
    """The shards of parameters, gradients, main weights and moments in Megatron's buffers."""

    distributed: DistributedOptimizer
    group_names: list[str]  # as they were at first

    def __init__(self, opening: Opening, mesh: Any, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.with_gradient: set[str] = set()
        self.wholes: dict[str, torch.Tensor] | None = None  # since the last verb
        self.counters: dict[str, int] = {}

    def shards(self) -> dict[str, Shard]:
        """Return the rows that this rank shows of each parameter."""
        index, shard = self.rank % self.opening.shard, self.opening.shard
        return {p.name: rows_of(p.shape, index, shard) for p in self.opening.params}

    def has_gradient(self, name: str) -> bool:
        """Return whether a parameter has a gradient, be it of zeros."""
        return name in self.with_gradient

    def tensors(self, name: str, *, whole: bool) -> dict[str, torch.Tensor]:
        """Return the parameter as this rank computes with it, and its rows of what is sharded."""
        found = {"": self.parameters[name].detach()}
        for suffix in self._suffixes(name):
            found[suffix] = self._wholes()[name + suffix]
        if whole:
            return found
        box = self.shards()[name]
        begin, end = box.offsets[0], box.offsets[0] + box.shape[0]
        return {suffix: tensor[begin:end] for suffix, tensor in found.items()}

    def steps(self, name: str) -> int:
        """Return this rank's counter of a parameter; an owner's where it owns nothing of it."""
        self._wholes()
        return self.counters[name]

    def groups(self) -> list[Message]:
        """Return the settings of all groups. Megatron may have taken names from a checkpoint."""
        return settings.report(self.group_names, self.optimizer)

    def range_of(self, name: str) -> tuple[int, int]:
        """Return which elements of a parameter this rank owns, by Megatron's own map."""
        parameter = self.parameters[name]
        if parameter not in self.distributed.model_param_gbuf_map:
            return 0, 0
        own = self.distributed._get_model_param_range_map(parameter)["param"]
        return own.start, own.end

    def inner(self, name: str) -> torch.Tensor:
        """Return the tensor that the inner optimizer has in the place of this rank's part."""
        group, place = self.distributed.model_param_group_index_map[self.parameters[name]]
        result: torch.Tensor = self.optimizer.param_groups[group]["params"][place]
        return result

    def main(self, name: str) -> torch.Tensor:
        """Return this rank's part of the main weight."""
        return self.inner(name)

    def drop_gradient(self, name: str) -> None:
        """Take away the gradient that the inner optimizer was given."""
        self.inner(name).grad = None

    def _own_gradients(self) -> dict[str, torch.Tensor]:
        """Return this rank's parts of the gradient buffers; what it owns nothing of is left out."""
        result = {}
        for name, parameter in self.parameters.items():
            begin, end = self.range_of(name)
            if end > begin:
                result[name] = vars(parameter)["main_grad"].view(-1)[begin:end]
        return result

    def _suffixes(self, name: str) -> list[str]:
        main = ["/main"] if self.opening.precision.main != "none" else []
        gradient = ["/gradient"] if name in self.with_gradient else []
        return [*main, *gradient, *(f"/{key}" for key in MOMENTS)]

    def _wholes(self) -> dict[str, torch.Tensor]:
        """Return all sharded tensors whole. A collective once after each verb."""
        if self.wholes is None:
            pieces = [
                self._piece(p.name, p.shape, suffix)
                for p in self.opening.params
                for suffix in self._suffixes(p.name)
            ]
            group = parallel_state.get_intra_distributed_optimizer_instance_group()
            found = put_together(pieces, group)
            self.wholes = {piece.label: t for piece, t in zip(pieces, found, strict=True)}
            self._count(group)
        return self.wholes

    def _piece(self, name: str, shape: tuple[int, ...], suffix: str) -> Piece:
        begin, end = self.range_of(name)
        of_gradient = suffix == "/gradient"
        precision = self.opening.precision
        dtype = DTYPES[precision.grad] if of_gradient else weight_dtype(precision)
        values = None
        if end > begin:
            values = self._values(name, suffix, end - begin, dtype)
        return Piece(name + suffix, shape, dtype, begin, values)

    def _values(self, name: str, suffix: str, numel: int, dtype: torch.dtype) -> torch.Tensor:
        """Return this rank's part of a tensor. A moment that is not there yet is zero."""
        if suffix == "/gradient":
            return self._own_gradients()[name]
        if suffix == "/main":
            return self.main(name)
        state = self.optimizer.state.get(self.inner(name), {})
        moment: torch.Tensor = state.get(suffix[1:], torch.zeros(numel, dtype=dtype))
        return moment

    def _count(self, group: Any) -> None:
        """Read the step counters of all parameters of which this rank owns a part."""
        own = torch.full((len(self.parameters),), -1)
        for place, name in enumerate(self.parameters):
            begin, end = self.range_of(name)
            if end > begin:
                state = self.optimizer.state.get(self.inner(name), {})
                own[place] = int(state.get("step", 0))
        of_owners = own.clone()
        torch.distributed.all_reduce(of_owners, torch.distributed.ReduceOp.MAX, group=group)
        shown = torch.where(own >= 0, own, of_owners.clamp(min=0)).tolist()
        self.counters = dict(zip(self.parameters, shown, strict=True))
