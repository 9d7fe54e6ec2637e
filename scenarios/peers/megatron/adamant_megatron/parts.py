"""Which parts of the model a rank owns, and what it shows of them to `adamant_torch`'s seam."""

from __future__ import annotations

import torch
import torch.distributed as dist
from megatron.core import parallel_state
from megatron.core.optimizer.distrib_optimizer import DistributedOptimizer

from adamant_torch import optimizer
from adamant_torch.model import DTYPES, weight_dtype
from adamant_torch.protocol import Message
from adamant_torch.rows import Piece, PutTogether, Tensors

MOMENTS = ("exp_avg", "exp_avg_sq")


class Parts(PutTogether):
    """The shards of parameters, gradients, main weights and moments in Megatron's buffers."""

    distributed: DistributedOptimizer
    group_names: list[str]  # as they were at first

    def whole_tensors(self, name: str) -> Tensors:
        """Return the parameter as this rank computes with it, and what is sharded."""
        sharded = {suffix: self.whole(name + suffix) for suffix in self._suffixes(name)}
        return {"": self.parameters[name].detach(), **sharded}

    def groups(self) -> list[Message]:
        """Return the settings of all groups. Megatron may have taken names from a checkpoint."""
        told = optimizer.report(self.optimizer)
        return [{**each, "name": name} for each, name in zip(told, self.group_names, strict=True)]

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

    def holders(self) -> dist.ProcessGroup:
        """Return the ranks that share the states of one of Megatron's instances."""
        found: dist.ProcessGroup = parallel_state.get_intra_distributed_optimizer_instance_group()
        return found

    def held(self) -> list[Piece]:
        """Return this rank's parts of all that is sharded."""
        return [
            self._piece(p.name, p.shape, suffix)
            for p in self.opening.params
            for suffix in self._suffixes(p.name)
        ]

    def own_steps(self, name: str) -> int | None:
        """Return the step counter of a parameter of which this rank owns a part."""
        begin, end = self.range_of(name)
        if end == begin:
            return None
        return int(self.optimizer.state.get(self.inner(name), {}).get("step", 0))

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
