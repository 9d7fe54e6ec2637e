"""torchao's low-bit Adam and AdamW under adamant, on PyTorch's FSDP2 and checkpoints.

The optimizer, its states and what they do in a checkpoint are torchao's. Its step is one function
that it compiles for each shape; here that function runs uncompiled unless an option says otherwise,
because a search has thousands of shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch
from torchao.optim import Adam4bit, Adam8bit, AdamFp8, AdamW4bit, AdamW8bit, AdamWFp8

from adamant_torch import Engine
from adamant_torch.engine import known_beside
from adamant_torch.protocol import Message
from adamant_torchao import quantised, states

Settings = dict[str, Any]
OPTIMIZERS: dict[tuple[str, str], Callable[..., torch.optim.Optimizer]] = {
    ("adamw", "8bit"): AdamW8bit,
    ("adamw", "4bit"): AdamW4bit,
    ("adamw", "fp8"): AdamWFp8,
    ("adam", "8bit"): Adam8bit,
    ("adam", "4bit"): Adam4bit,
    ("adam", "fp8"): AdamFp8,
}
FROM_PYTORCH = ("state_dict", "template", "async_save", "offload_policy")
AROUND = {
    "empty_groups": "dropped",
    "empty_tensors": "apart",
    "missing_states": "made",
    "saves": "new_directory",
    "files": "checked",
    "optimizer_keys": "names",
}


class TorchaoEngine(Engine):
    """FSDP2 with an optimizer of `torchao.optim`."""

    name = "torchao"
    tried: ClassVar = {"torchao": ("0.18.0",), "torch": ("2.13.0",)}
    known_files = (known_beside(__file__), *Engine.known_files)
    counts_in_fp64 = True  # the way around a bias correction in fp32
    compiled = False
    stochastic = False  # are bf16 weights rounded at random

    @classmethod
    def capabilities(cls, defaults: Message) -> Message:
        """Return PyTorch's capabilities without loads that give moments a type of their own.

        torchao's moments have the type of the weights that it is given, where they are not
        quantised.
        """
        return {**defaults, "load_precisions": []}

    @classmethod
    def options(cls, defaults: Message) -> Message:
        """Return torchao's options and those of PyTorch's checkpoints that torchao's states meet.

        Where PyTorch's own defects have a way around, it is always taken: they are looked for in
        `adamant_torch`, and would hide what is torchao's.
        """
        return {
            "states": ["8bit", "4bit", "fp8"],
            **{name: defaults[name] for name in FROM_PYTORCH},
            **{name: [value] for name, value in AROUND.items()},
        }

    def arithmetic(self) -> str:
        """Return that any order of operations is right."""
        return "interval"

    def make_optimizer(self, groups: list[Settings]) -> torch.optim.Optimizer:
        """Return torchao's optimizer for mode and states."""
        torch.compiler.set_stance("default" if self.compiled else "force_eager")
        kind = OPTIMIZERS[self.opening.mode, self.opening.options.get("states", "8bit")]
        made = kind(groups, bf16_stochastic_round=self.stochastic)
        if self.counts_in_fp64:
            states.count_in_fp64(made)
        return made

    def moments(self, name: str) -> dict[str, torch.Tensor]:
        """Return what reading both moments gives, as far as they exist."""
        return {key: quantised.values(state) for key, state in super().moments(name).items()}

    def save(self, directory: str) -> list[str]:
        """Write a checkpoint; a parameter that has not stepped has the state of a first step."""
        states.make_missing(self.optimizer)
        return super().save(directory)

    def load(self, directory: str) -> list[str]:
        """Read a checkpoint into states that hold nothing, made as torchao makes them."""
        if self.opening.options.get("template") != "step":
            for state in states.make_missing(self.optimizer):
                quantised.forget(state["exp_avg"])
                quantised.forget(state["exp_avg_sq"])
        return super().load(directory)

    def set(self, change: Message) -> None:
        """Change settings; a learning rate is a tensor that torchao wants filled, not replaced."""
        groups = self.optimizer.param_groups
        rates = [group["lr"] for group in groups]
        super().set(change)
        for group, rate in zip(groups, rates, strict=True):
            if group["lr"] is not rate:
                rate.fill_(group["lr"])
                group["lr"] = rate


class AsShippedEngine(TorchaoEngine):
    """The same with torchao's own counters: the second step already leaves every interval."""

    name = "torchao-as-shipped"
    known_files = (known_beside(__file__, "as_shipped"), *Engine.known_files)
    counts_in_fp64 = False


class CompiledEngine(TorchaoEngine):
    """The same with the step compiled for each shape, which takes seconds each."""

    name = "torchao-compiled"
    compiled = True


class StochasticEngine(TorchaoEngine):
    """The same with `bf16_stochastic_round`: a weight may be either of its neighbours in bf16.

    No interval of adamant's says that, so it is no option that a search may draw.
    """

    name = "torchao-stochastic"
    stochastic = True
