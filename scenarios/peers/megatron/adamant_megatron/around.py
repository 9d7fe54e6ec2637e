"""Ways around defects: `states: mended`, `nan_norm: clips`, the offload's `old_gradients: dropped`.

The first goes around what stops every load where torch's Adam steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import torch

from adamant_torch.around import make_missing_states

NOBODY = "no parameter"  # in the place of one, in the state of a rank that owns none


def make_states(optimizer: Any) -> None:
    """Give each parameter without state one of zeros, as its first step would.

    Without Transformer Engine, Megatron reads the step counter of all parameters from the first
    state that it finds, and has no state dict where there is none.
    """
    for each in getattr(optimizer, "sub_optimizers", [optimizer]):
        make_missing_states(each, torch.float32)
    if hasattr(optimizer, "sub_optimizers"):
        optimizer._sync_sub_optimizers_state_to_hdo()


def make_state_of_nobody(optimizer: torch.optim.Optimizer, step: int) -> None:
    """Give a rank that owns no parameter a state with a counter, so that it has a state dict."""
    if not any(group["params"] for group in optimizer.param_groups):
        optimizer.state[NOBODY] = {"step": torch.tensor(float(step))}  # type: ignore[index]


def load_nothing_of_nobody(optimizer: torch.optim.Optimizer) -> None:
    """Keep that state out of loads: the offload looks up each key among its parameters."""

    def without_nobody(_: object, loaded: dict[str, Any]) -> dict[str, Any]:
        states = {key: state for key, state in loaded["state"].items() if key != NOBODY}
        return {**loaded, "state": states}

    optimizer.register_load_state_dict_pre_hook(without_nobody)


def drop_old_gradient(optimizer: Any, parameter: torch.Tensor) -> None:
    """Take from the offload's copy of a parameter the gradient of the step before."""
    copy = optimizer.param_to_inner_param[parameter]
    copy.grad = None
    optimizer.cpu_copy_map_grad.pop(copy, None)  # else it would never have one again


def take_steps(distributed: Any) -> None:
    """Let a load fill states that have a step counter, which no format brings.

    Megatron copies into every tensor of a state what the checkpoint has under its name, and of
    torch's Adam the counter is one.
    """
    fill = distributed._set_main_param_and_optimizer_states

    def with_step(model_parameter: torch.Tensor, tensors: dict[str, torch.Tensor]) -> None:
        group, place = distributed.model_param_group_index_map[model_parameter]
        own = distributed.optimizer.param_groups[group]["params"][place]
        step = distributed.optimizer.state[own].get("step")
        with torch.no_grad():
            fill(model_parameter, tensors if step is None else {"step": step, **tensors})

    distributed._set_main_param_and_optimizer_states = with_step


def part_steps(optimizer: Any) -> None:
    """Give each parameter a step counter of its own: a load leaves all with the same tensor."""
    for each in getattr(optimizer, "sub_optimizers", [optimizer]):
        for state in each.state.values():
            if "step" in state:
                state["step"] = state["step"].clone()


def clip_by_nan(parameters: Iterable[torch.Tensor], norm: float) -> None:
    """Let a norm that is no number make gradients no numbers, as PyTorch's clip does."""
    if not math.isnan(norm):
        return
    for parameter in parameters:
        for gradient in (parameter.grad, getattr(parameter, "decoupled_grad", None)):
            if gradient is not None:
                gradient.mul_(norm)
