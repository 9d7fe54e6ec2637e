"""Which parts of the model a rank owns, and what it shows of them to `adamant_torch`'s seam."""

from __future__ import annotations

import torch
import torch.distributed as dist
from megatron.core import parallel_state
from megatron.core.optimizer.distrib_optimizer import DistributedOptimizer

from adamant_torch import optimizer
from adamant_torch.protocol import Message
from adamant_torch.rows import PutTogether, Tensors

MOMENTS = ("exp_avg", "exp_avg_sq")


class Parts(PutTogether):
    """The shards of parameters, gradients, main weights and moments in Megatron's buffers."""

    distributed: DistributedOptimizer
    group_names: list[str]  # as they were at first

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

    def _gradient(self, name: str) -> torch.Tensor:
        """Return this rank's part of a gradient in its buffer; it may have no element."""
        whole: torch.Tensor = vars(self.parameters[name])["main_grad"]
        return whole.view(-1)[slice(*self.range_of(name))]

    def holders(self) -> dist.ProcessGroup:
        """Return the ranks that share the states of one of Megatron's instances."""
        found: dist.ProcessGroup = parallel_state.get_intra_distributed_optimizer_instance_group()
        return found

    def own_steps(self, name: str) -> int | None:
        """Return the step counter of a parameter of which this rank owns a part."""
        begin, end = self.range_of(name)
        if end == begin:
            return None
        return int(self.optimizer.state.get(self.inner(name), {}).get("step", 0))

    def run(self, name: str) -> tuple[int, Tensors]:
        """Return this rank's part of a parameter. A moment that is not there yet is zero."""
        begin, end = self.range_of(name)
        if end == begin:
            return begin, {}
        state = self.optimizer.state.get(self.inner(name), {})
        moments = {f"/{key}": state.get(key, torch.zeros(end - begin)) for key in MOMENTS}
        return begin, {"/main": self.main(name), "/gradient": self._gradient(name), **moments}
