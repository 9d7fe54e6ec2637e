"""Megatron-core's DistributedOptimizer behind the seam of `adamant_torch`.

Verbs are Megatron's own calls, in the order of its training loop. Where the protocol takes apart
what Megatron does in one call (`step` unscales, clips and steps) the parts are called one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import torch
from megatron.core import parallel_state
from megatron.core.optimizer import get_megatron_optimizer
from megatron.core.optimizer.distrib_optimizer import DistributedOptimizer

import adamant_torch
from adamant_megatron import around, checkpoint, groups, hello, model, settings, stand_ins
from adamant_megatron.scale import Scale
from adamant_megatron.view import Piece, put_together, rows_of
from adamant_torch.model import DTYPES, module_name, weight_dtype
from adamant_torch.optimizer import set_group
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening, Overflow
from adamant_torch.shards import Shard

Verb = TypeVar("Verb", bound=Callable[..., Any])
MOMENTS = ("exp_avg", "exp_avg_sq")


def on_device(verb: Verb) -> Verb:
    """Run a method where tensors say that they lie on the device."""

    @functools.wraps(verb)
    def run(self: Engine, *args: Any, **kwargs: Any) -> Any:
        with stand_ins.on_device():
            return verb(self, *args, **kwargs)

    return run  # type: ignore[return-value]


class Engine(adamant_torch.Engine):
    """DDP's gradient buffers, the DistributedOptimizer over torch's Adam, dist_checkpointing."""

    name = "megatron"

    def __init__(self, opening: Opening, mesh: Any, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.scaling: Scale = Scale(opening.clip)
        self.with_gradient: set[str] = set()
        self.handed_over = False  # the inner optimizer has the gradients, without loss scale
        self.wholes: dict[str, torch.Tensor] | None = None  # since the last verb
        self.counters: dict[str, int] = {}

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what Megatron can do here."""
        return hello.capabilities(defaults)

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the choices of this engine."""
        return hello.options()

    @classmethod
    def known(cls, default: str | None) -> str | None:
        """Return the file of Megatron's known defects."""
        return str(hello.KNOWN)

    def arithmetic(self) -> str:
        """Return that any order of operations may be right: what torch's Adam does is not said."""
        return "interval"

    # --- verbs ----------------------------------------------------------------------------------

    @on_device
    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build model, DDP and optimizer."""
        stand_ins.Stream.late = self.opening.options.get("streams", "late") == "late"
        groups.enter(self.opening.shard, self.opening.replicate)
        whole = model.build(self.opening, initial)
        self.ddp = model.distribute(whole, self.opening)
        own = dict(whole.named_parameters())
        self.parameters = {p.name: own[module_name(p.name)] for p in self.opening.params}
        self.megatron = get_megatron_optimizer(
            self.config(),
            [self.ddp],
            config_overrides=settings.overrides(self.opening),
            use_gloo_process_groups=False,
        )
        self.distributed: DistributedOptimizer = self.megatron.chained_optimizers[0]
        if self._mends():
            around.take_steps(self.distributed)
        self.optimizer = self.distributed.optimizer
        self.group_names = [group["name"] for group in self.optimizer.param_groups]
        self.scaling.scaler_of = self.distributed

    def config(self) -> Any:
        """Return Megatron's settings of the optimizer."""
        return settings.config(self.opening)

    @on_device
    def backward(
        self,
        gradients: Mapping[str, torch.Tensor],
        without: list[str],
        overflow: Overflow | None,
    ) -> None:
        """Run one backward and one reduction; add what was there before.

        Megatron's DDP wants a gradient for each parameter, so a missing one is zeros here and is
        taken away before the inner optimizer steps.
        """
        before = {name: part.clone() for name, part in self._own_gradients().items()}
        self._gradients_change()
        self.ddp.zero_grad_buffer()
        fed = {
            p.name: torch.zeros(p.shape) if p.name in without else gradients[p.name].view(p.shape)
            for p in self.opening.params
        }
        self.distributed.scale_loss(self.ddp(fed)).backward()
        self.ddp.finish_grad_sync()
        if not model.averages(self.opening):
            for buffer in self.ddp.buffers:
                buffer.grad_data.div_(self.opening.microbatches)
        for name, part in self._own_gradients().items():
            if name in self.with_gradient:
                part.add_(before[name])
            if overflow is not None and overflow.name == name:
                at = overflow.index - self.range_of(name)[0]
                if 0 <= at < part.numel():
                    part[at] = overflow.value
        self.with_gradient |= {p.name for p in self.opening.params if p.name not in without}

    @on_device
    def clip(self) -> float:
        """Clip by Megatron's norm; return the norm before."""
        self._hand_over()
        self.scaling.norm = float(self.distributed.clip_grad_norm(self.scaling.clip_to))
        return self.scaling.norm

    @on_device
    def step(self) -> bool:
        """Step; return False where a gradient was not finite on some rank."""
        self._hand_over()
        if self.scaling.verdict():
            return False
        self.megatron.step_with_ready_grads()
        return True

    @on_device
    def zero_grad(self, set_to_none: bool) -> None:
        """Clear Megatron's buffers, as its training loop does before each iteration."""
        self._gradients_change()
        self.ddp.zero_grad_buffer()
        self.megatron.zero_grad()
        if set_to_none:
            self.with_gradient.clear()

    def set(self, change: Message) -> None:
        """Change settings of groups and the norm to clip to."""
        for group in change.get("groups", []):
            for name, own in zip(self.group_names, self.optimizer.param_groups, strict=True):
                if name == group.get("name", ""):
                    own["name"] = name
                    set_group(_Only(own), group)  # type: ignore[arg-type]
        if "clip" in change:
            self.scaling.clip_to = change["clip"]

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint as Megatron does."""
        self._make_missing_states()
        checkpoint.save(self.ddp, self.megatron, directory, self.opening.options["format"])
        return ["clip"]

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint as Megatron does."""
        self._make_missing_states()
        self.wholes = None
        # Groups of the hybrid hold a class, which a load of data alone refuses.
        classes: list[Any] = [torch.optim.AdamW] if self._mends() else []
        with torch.serialization.safe_globals(classes):
            checkpoint.load(self.ddp, self.megatron, directory, self.opening.options["format"])
        if self._mends():
            around.part_steps(self.optimizer)
        return ["clip"]

    def loaded(self) -> None:
        """Begin anew after a load."""
        self.zero_grad(set_to_none=True)
        self.scaling.skipped = False

    # --- what a rank shows ----------------------------------------------------------------------

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

    # --- where things are -----------------------------------------------------------------------

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

    def _hand_over(self) -> None:
        """Give the reduced gradients to the inner optimizer and undo the loss scale, once."""
        self.wholes = None
        if self.handed_over:
            return
        self.handed_over = True
        self.distributed._copy_model_grads_to_main_grads()
        if self.with_gradient:  # a step without any gradient is no news to the scaler
            self.scaling.unscale()
        for name in self._own_gradients():
            if name not in self.with_gradient:
                self.drop_gradient(name)

    def _mends(self) -> bool:
        return self.opening.options["states"] == "mended"

    @on_device
    def _make_missing_states(self) -> None:
        if self._mends():
            self._wholes()
            around.make_states(self.optimizer)
            self._make_state_of_nobody()
            self.wholes = None

    def _make_state_of_nobody(self) -> None:
        around.make_state_of_nobody(self.optimizer, max(self.counters.values()))

    def _own_gradients(self) -> dict[str, torch.Tensor]:
        """Return this rank's parts of the gradient buffers; what it owns nothing of is left out."""
        result = {}
        for name, parameter in self.parameters.items():
            begin, end = self.range_of(name)
            if end > begin:
                result[name] = vars(parameter)["main_grad"].view(-1)[begin:end]
        return result

    def _gradients_change(self) -> None:
        self.handed_over = False
        self.wholes = None
        self.scaling.begin()

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


class _Only:
    """An optimizer of one group, for `set_group`."""

    def __init__(self, group: dict[str, Any]) -> None:
        self.param_groups = [group]
