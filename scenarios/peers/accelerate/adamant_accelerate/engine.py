"""accelerate over FSDP2 under adamant: prepare, accumulate, clip, step, save_state, load_state.

Model, loss and optimizer are those of `adamant_torch`; accelerate shards, wraps and saves them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

import torch
from torch import nn
from torch.distributed.fsdp import FSDPModule

from adamant_accelerate.state import accelerator
from adamant_torch import Engine, around, model, optimizer, saves
from adamant_torch.engine import known_beside
from adamant_torch.hello import without_scaler
from adamant_torch.protocol import Message
from adamant_torch.requests import Overflow, Precision

SMALL = 2.0**-120  # above it a quarter is a normal number, in fp32 and in bf16
# Ways around defects of PyTorch's own: looked for in `adamant_torch`, they would hide accelerate's.
AROUND = {"empty_groups": ["dropped"]}


def is_bf16(precision: Precision) -> bool:
    """Return whether a recipe is what accelerate makes of `mixed_precision="bf16"`."""
    return (precision.param, precision.grad, precision.main) == ("bf16", "bf16", "fp32")


def in_parts(x: torch.Tensor, parts: int, number: int) -> torch.Tensor:
    """Return the gradient of backward `number` of some whose mean over them is `x`, exactly.

    Each has `x`. Where that is so small that a part of it would lose bits, the first has it all.
    """
    small = x.abs() < SMALL
    alone = x * parts if number == 0 else torch.full_like(x, -0.0)
    return torch.where(small, alone, x)


class AccelerateEngine(Engine):
    """An Accelerator with one model and one optimizer."""

    name = "accelerate"
    tried: ClassVar = {"accelerate": ("1.15.0",), "torch": ("2.13.0",)}
    known_files = (known_beside(__file__), *Engine.known_files)

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return PyTorch's capabilities but for loss scales and parameters without elements.

        accelerate has no scaler on a CPU, and knows a parameter by its address, of which such have
        none.
        """
        return {**without_scaler(defaults), "empty_tensors": False}

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return accelerate's own options, and PyTorch's that hold here."""
        return {
            "implementation": defaults["implementation"],
            "accumulate": ["1", "2", "4"],
            "mixed_precision": ["policy", "bf16"],
            "state_dict_type": ["SHARDED_STATE_DICT", "FULL_STATE_DICT"],
            "cpu_ram_efficient_loading": ["false", "true"],
            "missing_states": ["made", "left"],
            **AROUND,
        }

    # --- building ---------------------------------------------------------------------------------

    def open(self, initial: Mapping[str, torch.Tensor]) -> None:
        """Build model and optimizer on whole parameters, and let accelerate prepare both."""
        opening = self.opening
        options = opening.options
        self.steps_a_backward = int(options.get("accumulate", "1"))
        native = options.get("mixed_precision") == "bf16" and is_bf16(opening.precision)
        self.accelerator = accelerator(
            shard=opening.shard,
            replicate=opening.replicate,
            steps=self.steps_a_backward,
            policy=None if native else model.mixed_precision(opening.precision),
            mixed_precision="bf16" if native else "no",
            state_dict_type=options.get("state_dict_type", "SHARDED_STATE_DICT"),
            cpu_ram_efficient_loading=options.get("cpu_ram_efficient_loading") == "true",
        )
        whole = model.build(opening, initial)
        plain = dict(self._named(whole))
        made = self.make_optimizer(optimizer.param_groups(opening, plain))
        self.model, self.prepared = self.accelerator.prepare(whole, made)
        self.optimizer = self.prepared.optimizer
        self.parameters = dict(self._named(self.model))
        for unit in model.units_of(self.model):
            model.divide_once(cast(FSDPModule, unit), opening)

    def _named(self, module: nn.Module) -> list[tuple[str, nn.Parameter]]:
        found = {name.split(".")[-1]: value for name, value in module.named_parameters()}
        names = [param.name for param in self.opening.params]
        return [(name, found[model.module_name(name)]) for name in names]

    # --- verbs ------------------------------------------------------------------------------------

    def backward(
        self,
        gradients: Mapping[str, torch.Tensor],
        without: list[str],
        overflow: Overflow | None,
    ) -> None:
        """Run as many backwards as make one step, each under `accumulate`; the last one reduces.

        accelerate divides each one's loss by their number.
        """
        names = model.full_names(self.opening)
        for number in range(self.steps_a_backward):
            named = {}
            for param in self.opening.params:
                if param.name not in without:
                    x = gradients[param.name].reshape(param.shape)
                    named[names[param.name]] = in_parts(x, self.steps_a_backward, number)
            with self.accelerator.accumulate(self.model):
                if named:
                    self.accelerator.backward(self.model(model.tree(named)))
        if overflow is not None:
            self.overwrite(overflow)

    def clip(self) -> float:
        """Clip by accelerate; return the norm before."""
        parameters = self.model.parameters()
        return self.scaling.noted(
            self.accelerator.clip_grad_norm_(parameters, self.scaling.clip_to)
        )

    def step(self) -> bool:
        """Step accelerate's optimizer."""
        self.prepared.step()
        self.scaling.skipped = bool(self.prepared.step_was_skipped)
        return not self.scaling.skipped

    def zero_grad(self, set_to_none: bool) -> None:
        """Drop the gradients, or fill them with zeros, by accelerate's optimizer."""
        self.prepared.zero_grad(set_to_none=set_to_none)
        self.scaling.gradients_gone()

    # --- checkpoints ------------------------------------------------------------------------------

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint by `save_state`, in a directory beside the old one."""
        around.make_states_unless_left(self.opening.options, self.optimizer)
        target = saves.new_directory(directory)
        self.accelerator.save_state(target)
        saves.seal(target)
        saves.replace(directory, target)
        return ["clip"]

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint by `load_state`."""
        saves.check(directory)
        around.make_states_unless_left(self.opening.options, self.optimizer)
        self.accelerator.load_state(directory)
        return ["clip"]
