"""Megatron-core's DistributedOptimizer behind the seam of `adamant_torch`.

Verbs are Megatron's own calls, in the order of its training loop. Where the protocol takes apart
what Megatron does in one call (`step` unscales, clips and steps) the parts are called one by one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

import torch
from megatron.core.optimizer import get_megatron_optimizer

from adamant_megatron import around, checkpoint, groups, model, settings, stand_ins
from adamant_megatron.parts import Parts
from adamant_megatron.scale import Scale
from adamant_torch.engine import known_beside
from adamant_torch.hello import BF16, FP16, FP32, UNHARMED, precision
from adamant_torch.model import module_name
from adamant_torch.protocol import Message
from adamant_torch.requests import Opening, Overflow

Verb = TypeVar("Verb", bound=Callable[..., Any])


def on_device(verb: Verb) -> Verb:
    """Run a method where tensors say that they lie on the device."""

    @functools.wraps(verb)
    def run(self: Engine, *args: Any, **kwargs: Any) -> Any:
        with stand_ins.on_device():
            return verb(self, *args, **kwargs)

    return run  # type: ignore[return-value]


class Engine(Parts):
    """DDP's gradient buffers, the DistributedOptimizer over torch's Adam, dist_checkpointing."""

    name = "megatron"
    tried: ClassVar = {"megatron-core": ("0.16.1",), "torch": ("2.13.0",)}
    known_files: tuple[str, ...] = (known_beside(__file__),)

    def __init__(self, opening: Opening, mesh: Any, rank: int) -> None:
        super().__init__(opening, mesh, rank)
        self.scaling: Scale = Scale(opening.clip)
        self.handed_over = False  # the inner optimizer has the gradients, without loss scale

    # --- what is offered ------------------------------------------------------------------------

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return what the DistributedOptimizer can do on processes without a GPU.

        Gradients, main weights, where there are any, and moments are fp32: Megatron adds up and
        reduces gradients of 16 bits in fp32 unless it is told otherwise. It makes a dynamic scale
        for fp16 alone, and takes no fp16 without a scale.
        """
        kept = {key: value for key, value in defaults.items() if key != "load_precisions"}
        return {
            **kept,
            "precisions": [
                {**precision([FP32], [FP32], "none", FP32), "loss_scale": ["none", "fixed"]},
                {**precision([BF16], [FP32], FP32, FP32), "loss_scale": ["none", "fixed"]},
                {**precision([FP16], [FP32], FP32, FP32), "loss_scale": ["fixed", "dynamic"]},
            ],
            "empty_tensors": False,
            "set": ["lr", "betas", "eps", "weight_decay", "clip"],
            "save": True,
            "load": True,
            "loads_in_any_order": True,
            **UNHARMED,
            "promises": ["worlds", "repeated", "resumed"],
            "same_options": [],
        }

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return the options with what they accept; the first is the default."""
        return {
            "buckets": ["one", "small"],
            "format": ["fully_reshardable"],
            "groups": ["multiplied", "as_is"],
            "states": ["mended", "as_is"],
            "nan_norm": ["clips", "as_is"],
        }

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
        self.distributed = self.megatron.chained_optimizers[0]
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
        before = {name: self._gradient(name).clone() for name in self.with_gradient}
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
        for name, old in before.items():
            self._gradient(name).add_(old)
        if overflow is not None:
            part = self._gradient(overflow.name)
            at = overflow.index - self.range_of(overflow.name)[0]
            if 0 <= at < part.numel():
                part[at] = overflow.value
        self.with_gradient |= {p.name for p in self.opening.params if p.name not in without}

    @on_device
    def clip(self) -> float:
        """Clip by Megatron's norm; return the norm before."""
        self._hand_over()
        self.scaling.norm = float(self.distributed.clip_grad_norm(self.scaling.clip_to))
        if self.opening.options["nan_norm"] == "clips":
            around.clip_by_nan(self.distributed.get_parameters(), self.scaling.norm)
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
        """Change settings of groups, to which a load may have given other names, and the norm."""
        if change.get("groups"):
            for name, own in zip(self.group_names, self.optimizer.param_groups, strict=True):
                own["name"] = name
        super().set(change)

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint as Megatron does."""
        self._make_missing_states()
        checkpoint.save(self.ddp, self.megatron, directory, self.opening.options["format"])
        return ["clip"]

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint as Megatron does."""
        self._make_missing_states()
        # Groups of the hybrid hold a class, which a load of data alone refuses.
        classes: list[Any] = [torch.optim.AdamW] if self._mends() else []
        with torch.serialization.safe_globals(classes):
            checkpoint.load(self.ddp, self.megatron, directory, self.opening.options["format"])
        if self._mends():
            around.part_steps(self.optimizer)
        return ["clip"]

    # --- gradients and states --------------------------------------------------------------------

    def _hand_over(self) -> None:
        """Give the reduced gradients to the inner optimizer and undo the loss scale, once."""
        if self.handed_over:
            return
        self.handed_over = True
        self.distributed._copy_model_grads_to_main_grads()
        if self.with_gradient:  # a step without any gradient is no news to the scaler
            self.scaling.unscale()
        for name in self.parameters.keys() - self.with_gradient:
            if self._gradient(name).numel() > 0:
                self.drop_gradient(name)

    def _mends(self) -> bool:
        return self.opening.options["states"] == "mended"

    @on_device
    def _make_missing_states(self) -> None:
        if self._mends():
            self.wholes()
            around.make_states(self.optimizer)
            around.make_state_of_nobody(self.optimizer, max(self.counters.values()))

    def _gradients_change(self) -> None:
        self.handed_over = False
        self.scaling.begin()
