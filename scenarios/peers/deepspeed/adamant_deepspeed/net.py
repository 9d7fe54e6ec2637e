"""The model that DeepSpeed trains, and the optimizer that it is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import nn

from adamant_torch import model, optimizer
from adamant_torch.protocol import EngineError
from adamant_torch.requests import Opening

WIDEST = 16  # fp32 values in a vector of AVX-512


def names(opening: Opening) -> dict[str, str]:
    """Return the name of each parameter in the model, as a file system may spell it, too."""
    return {name: full.replace("/", ":") for name, full in model.full_names(opening).items()}


def build(opening: Opening, initial: Mapping[str, torch.Tensor]) -> model.Unit:
    """Return the model with the scenario's initial values, in the type that it computes with."""
    named = names(opening)
    values = {named[p.name]: initial[p.name].reshape(p.shape).clone() for p in opening.params}
    return model.Unit(model.tree(values), model.DTYPES[opening.precision.param])


def parameters(opening: Opening, whole: model.Unit) -> dict[str, nn.Parameter]:
    """Return the model's parameters by the scenario's names, in its order."""
    return {name: whole.get_parameter(full) for name, full in names(opening).items()}


def make_optimizer(opening: Opening, groups: list[optimizer.Settings]) -> torch.optim.Optimizer:
    """Return DeepSpeed's CPU Adam, or PyTorch's, over `groups`.

    DeepSpeed's settings at its making are those of the first group; each group has its own.
    """
    if opening.options["optimizer"] == "torch_adam":
        return optimizer.make(groups, opening.mode, "single")
    if opening.mode not in ("adam", "adamw"):
        raise EngineError(f"optimizer mode {opening.mode}: known are adam and adamw")
    from deepspeed.ops.adam import DeepSpeedCPUAdam

    made = DeepSpeedCPUAdam(groups, adamw_mode=opening.mode == "adamw")
    if opening.options["tails"] == "filled":
        made.ds_opt_adam = WholeVectors(made.ds_opt_adam)
    if opening.options["corrections"] == "fp64":
        made.ds_opt_adam = CorrectedOutside(made.ds_opt_adam, opening.mode == "adamw")
    return cast(torch.optim.Optimizer, made)


@dataclass(frozen=True)
class WholeVectors:
    """DeepSpeed's compiled step, given copies that are filled with zeros up to whole vectors.

    What is left after the last whole vector it computes in code that rounds otherwise.
    """

    step: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.step, name)

    def adam_update(self, *arguments: Any) -> Any:
        """Step one flat tensor; its weights, gradients and moments come last."""
        settings, tensors = arguments[:8], arguments[8:]
        filled = [nn.functional.pad(one, (0, -one.numel() % WIDEST)) for one in tensors]
        result = self.step.adam_update(*settings, *filled)
        for tensor, new in zip(tensors, filled, strict=True):
            tensor.copy_(new[: tensor.numel()])
        return result


@dataclass(frozen=True)
class CorrectedOutside:
    """DeepSpeed's compiled step, given its bias corrections in the other settings.

    It computes powers of the betas, and one minus these, in fp32: at the second step the correction
    of the second moment has lost ten of its bits. Here it is told to correct nothing, and that `lr`
    and `eps` are what the corrections, in double, make of them.
    """

    step: Any
    decoupled: bool

    def __getattr__(self, name: str) -> Any:
        return getattr(self.step, name)

    def adam_update(self, *arguments: Any) -> Any:
        """Step one flat tensor; see DeepSpeed's `DeepSpeedCPUAdam.step` for the arguments."""
        identity, t, lr, beta1, beta2, eps, decay, corrects, *tensors = arguments
        if corrects:
            first, second = 1.0 - beta1**t, math.sqrt(1.0 - beta2**t)
            decay = decay * first / second if self.decoupled else decay
            lr, eps = lr * second / first, eps * second
        return self.step.adam_update(identity, t, lr, beta1, beta2, eps, decay, False, *tensors)
