"""The engine: DeepSpeed's ZeRO optimizers behind the seam of `adamant_torch`.

What DeepSpeed does in one call, scenarios ask for in several. A backward ends with gradients that
are reduced and kept here; a step hands them to DeepSpeed again where a scenario has added to them,
overwritten an element, or stepped them before. DeepSpeed forgets gradients as it steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any, ClassVar

import torch
from torch.distributed.device_mesh import DeviceMesh

from adamant_deepspeed import around, averages, checkpoints, net, partitions, scales, surroundings
from adamant_deepspeed.config import config
from adamant_deepspeed.places import Place, gather
from adamant_torch import model, optimizer
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP16, FP32, UNHARMED, precision
from adamant_torch.model import DTYPES
from adamant_torch.protocol import Message, ProtocolError
from adamant_torch.requests import Opening, Overflow
from adamant_torch.rows import ShowsRows, Tensors

surroundings.prepare()
import deepspeed  # noqa: E402  (it reads its environment as it is imported)

surroundings.settle()
Flats = list[torch.Tensor]
SAME_BITS = ["checkpoints", "reduce_scatter", "contiguous_gradients", "persist"]


class ZeroEngine(ShowsRows):
    """DeepSpeed with ZeRO 1, 2 or 3, its CPU Adam or PyTorch's, and its checkpoints."""

    name = "deepspeed"
    tried: ClassVar = {"deepspeed": ("0.19.8",), "torch": ("2.13.0",)}
    known_files = (known_beside(__file__),)
    compiled = not surroundings.why_not_compiled()

    def __init__(self, opening: Opening, mesh: DeviceMesh, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.engine: Any
        self.zero: Any
        self.parts: partitions.Partitions
        self.places: dict[str, Place]
        self.kept: Flats = []  # what backwards have added up, with the loss scale
        self.as_reduced = False  # DeepSpeed still holds what `kept` holds
        self.clips = False  # the next step clips
        self.scaling: scales.Scales = scales.Scales(opening.loss_scale, opening.clip)

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what DeepSpeed can on CPUs; `defaults` are PyTorch's."""
        plain = {key: value for key, value in defaults.items() if key != "load_precisions"}
        return {
            **plain,
            "replicate_max": 1,
            # DeepSpeed scales losses with fp16, and with nothing else.
            "precisions": [
                {**precision([FP32], [FP32], "none", FP32), "loss_scale": ["none"]},
                {**precision([BF16], [FP32, BF16], FP32, FP32), "loss_scale": ["none"]},
                precision([FP16], [FP32, FP16], FP32, FP32),
            ],
            "unscales_in_place": False,
            "gradients_in_place": False,
            "empty_tensors": False,
            "step_counters": ["group"],
            "gradients": ["exact", "normal"],
            "save": True,
            "load": True,
            "loads_in_any_order": False,
            **UNHARMED,
            "promises": ["repeated", "options", "resumed"],
            "same_options": SAME_BITS,
            "same_files": [],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return all options with what they accept; the first is the default."""
        return {
            "zero": ["2", "1", "3"],
            "optimizer": ["torch_adam", "cpu_adam"] if cls.compiled else ["torch_adam"],
            "corrections": ["fp64", "fp32"],
            "tails": ["filled", "as_cut"],
            "checkpoints": ["by_world", "universal"],
            "universal_load": ["mended", "plain"],
            "reduce_scatter": ["true", "false"],
            "contiguous_gradients": ["true", "false"],
            "persist": ["true", "false"],
            "average": ["sum", "deepspeed"],
            "clip_factor": ["quotient", "reciprocal"],
            "missing_gradients": ["kept", "zeros"],
            "missing_states": ["made", "left"],
            "saves": ["emptied", "in_place"],
            "non_finite": ["stepped", "skipped"],
        }

    def arithmetic(self) -> str:
        """Return "interval": shard boundaries decide which elements a vector's code computes."""
        return "interval"

    # --- verbs ----------------------------------------------------------------------------------

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Let DeepSpeed wrap the scenario's model and optimizer."""
        surroundings.say_who(self.rank, self.opening.ranks)
        whole = net.build(self.opening, initial)
        self.model = whole
        self.parameters = net.parameters(self.opening, whole)
        groups = optimizer.param_groups(self.opening, self.parameters)
        self.engine, self.zero, _, _ = deepspeed.initialize(
            model=whole, optimizer=self.make_optimizer(groups), config=config(self.opening)
        )
        self.scaling.zero = self.zero
        self.optimizer = self.zero.optimizer
        self.parts = partitions.of(self.zero, int(self.opening.options["zero"]))
        self.places = self.parts.places(self.parameters)
        self.divisor = averages.divisor(self.opening)
        if self.divisor is not None:
            self.zero.gradient_average = False  # ZeRO 3 has no such setting: see `summing`

    def make_optimizer(self, groups: list[optimizer.Settings]) -> torch.optim.Optimizer:
        """Return the optimizer that DeepSpeed is given."""
        return net.make_optimizer(self.opening, groups)

    def backward(
        self, gradients: Mapping[str, torch.Tensor], without: list[str], overflow: Overflow | None
    ) -> None:
        """Run a backward through DeepSpeed, and add what it has reduced to what is kept."""
        self.parts.drop()
        self.clips, self.scaling.norm = False, 0.0
        params = [param for param in self.opening.params if param.name not in without]
        if params:
            names = net.names(self.opening)
            given = {names[p.name]: gradients[p.name].reshape(p.shape) for p in params}
            with nullcontext() if self.divisor is None else averages.summing(self.zero):
                self.engine.backward(self.engine(model.tree(given)))
            self._keep({param.name for param in params})
        if overflow is not None:
            self._overwrite(overflow)

    def _keep(self, names: set[str]) -> None:
        """Take a copy of what the backward has reduced."""
        found = self.parts.reduced()
        if self.divisor is not None:
            for flat in found:
                flat.div_(self.divisor)
        missing = self.parameters.keys() - names
        if missing and self.opening.options["missing_gradients"] == "kept":
            for name in missing:  # ZeRO 3 leaves what was there before
                flat = found[self.places[name].group]
                flat[self.places[name].local(self.rank, flat.numel())] = 0.0
        self.as_reduced = self.divisor is None and not self.with_gradient and not missing
        if self.with_gradient:
            found = [old + new for old, new in zip(self.kept, found, strict=True)]
        self.kept = found
        self.with_gradient |= names

    def _overwrite(self, overflow: Overflow) -> None:
        place = self.places[overflow.name]
        flat = self.kept[place.group]
        rank, position = place.owner(overflow.index, flat.numel())
        self.as_reduced = False
        if rank == self.rank:
            flat[position] = overflow.value

    def _hand_over(self) -> None:
        """Let DeepSpeed find the gradients that are kept, zeros where there are none."""
        if not self.as_reduced:
            zeros = [
                torch.zeros_like(flat, dtype=DTYPES[self.opening.precision.grad])
                for flat in self.parts.weights()
            ]
            self.parts.hand(self.kept or zeros)

    def clip(self) -> float:
        """Ask DeepSpeed for the norm that the next step will clip by."""
        if self.scaling.clip_to is None:
            raise ProtocolError("clip: no norm to clip to was set")
        self._hand_over()
        self.clips = True
        self.scaling.norm = scales.true_norm(self.zero, float(self.parts.norm()), self.kept)
        return self.scaling.norm

    def step(self) -> bool:
        """Let DeepSpeed step; return False where it skipped."""
        self._hand_over()
        self.as_reduced = False
        self.zero.clip_grad = float(self.scaling.clip_to or 0.0) if self.clips else 0.0
        with ExitStack() as ways:
            if self.zero.clip_grad and self.opening.options["clip_factor"] == "quotient":
                ways.enter_context(around.clipping_with_one_factor(self.zero, self.scaling.norm))
            if self.opening.options["missing_gradients"] == "kept":
                ways.enter_context(self._leaving_alone(self.parameters.keys() - self.with_gradient))
            if self.scaling.setting == "none" and self.opening.options["non_finite"] == "stepped":
                ways.enter_context(around.stepping_whatever_it_finds(self.zero))
            self.engine.step()
        self.scaling.skipped = bool(self.zero.overflow)
        return not self.scaling.skipped

    @contextmanager
    def _leaving_alone(self, names: Set[str]) -> Iterator[None]:
        """Let a step leave parameters as they are, and of all of them the loss scale, too."""
        places = [self.places[name] for name in names]
        with ExitStack() as ways:
            if not self.with_gradient:
                ways.enter_context(around.leaving_the_scale(self.zero))
            ways.enter_context(around.leaving_alone(places, self._flats, self.rank))
            yield
        if places:
            self.parts.refresh()

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros."""
        self.clips, self.scaling.norm = False, 0.0
        self.as_reduced = False
        if set_to_none:
            self.kept, self.with_gradient = [], set()
        for flat in self.kept:
            flat.zero_()

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint."""
        if self.opening.options["missing_states"] == "made":
            around.make_states(self.optimizer, self.parts.weights())
        checkpoints.save(self.engine, directory, self.opening.options["saves"] == "emptied")
        return checkpoints.NOT_CARRIED

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint."""
        checkpoints.load(self.engine, directory, self.opening.options)
        return checkpoints.NOT_CARRIED

    def loaded(self) -> None:
        """Begin anew after a load."""
        self.parts.drop()
        super().loaded()

    # --- what a rank shows ----------------------------------------------------------------------

    def _flat_moments(self, group: int) -> dict[str, torch.Tensor]:
        state = self.optimizer.state.get(self.parts.weights()[group], {})
        return {key: state[key] for key in ("exp_avg", "exp_avg_sq") if key in state}

    def _flats(self, group: int) -> Flats:
        return [self.parts.weights()[group], *self._flat_moments(group).values()]

    def whole_tensors(self, name: str) -> Tensors:
        """Return all that belongs to a parameter, put together of the ranks' parts."""
        place = self.places[name]
        main = self.parts.weights()[place.group]
        flats = {"/main": main, **{f"/{k}": v for k, v in self._flat_moments(place.group).items()}}
        if self.has_gradient(name):
            flats["/gradient"] = self.kept[place.group]
        shape = next(param.shape for param in self.opening.params if param.name == name)
        whole = {key: place.whole(gather(flat)).reshape(shape) for key, flat in flats.items()}
        parts = place.whole(gather(self.parts.computed()[place.group])).reshape(shape)
        if self.opening.precision.main == "none":
            return {**whole, "": whole.pop("/main")}
        return {"": parts, **whole}

    def tensors(self, name: str, *, whole: bool) -> Tensors:
        """Return the rows that this rank shows, or all: the parameter is its own copy, if any."""
        found = super().tensors(name, whole=whole)
        own = self.parts.held_whole(self.parameters[name]) if whole else None
        return found if own is None else {**found, "": own.reshape(found[""].shape)}

    def steps(self, name: str) -> int:
        """Return how many steps a parameter's flat tensor has taken."""
        state = self.optimizer.state.get(self.parts.weights()[self.places[name].group], {})
        return int(state.get("step", 0))
