"""Ways around known defects of PyTorch's optimizer state, each what a careful user would write.

An option of `hello` chooses each. By default none is taken, and the defect shows: DEFECTS.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

import torch
from torch import nn
from torch.distributed.checkpoint.metadata import Metadata, TensorStorageMetadata

from adamant_torch.several import with_keys
from adamant_torch.shards import alike

StateDict = dict[str, Any]
MOMENTS = ("exp_avg", "exp_avg_sq")


# --- missing_states: made ---------------------------------------------------------------------


def make_missing_states(optimizer: torch.optim.Optimizer, dtype: torch.dtype | None = None) -> None:
    """Give each parameter without state what its first step would begin with: no helper steps."""
    for parameter in [each for group in optimizer.param_groups for each in group["params"]]:
        if not optimizer.state.get(parameter):
            first, second = (torch.zeros_like(parameter, dtype=dtype) for _ in range(2))
            state = {"step": torch.tensor(0.0), "exp_avg": first, "exp_avg_sq": second}
            optimizer.state[parameter] = state


def make_states_unless_left(options: dict[str, str], optimizer: torch.optim.Optimizer) -> None:
    """Do so where an engine's scenario does not want to see what happens without."""
    if options.get("missing_states") != "left":
        make_missing_states(optimizer)


# --- empty_tensors: apart -----------------------------------------------------------------------


def make_gradients(parameters: list[nn.Parameter]) -> None:
    """Give parameters without elements the gradients that FSDP2's reduction refuses to make."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)


def without_empty(content: StateDict) -> StateDict:
    """Return a state dict without tensors that have no element: some formats lose their shape."""
    return {
        key: without_empty(value) if isinstance(value, dict) else value
        for key, value in content.items()
        if not isinstance(value, torch.Tensor) or value.numel() > 0
    }


# --- step_shape: vector -------------------------------------------------------------------------


def with_steps_of_shape(optim: StateDict, shape: tuple[int, ...]) -> StateDict:
    """Return an optimizer's state dict, nested or flat, with each step counter of that shape.

    Consolidation to Hugging Face files loses tensors without dimensions, and no others.
    """

    def shaped(key: str, value: Any) -> Any:
        return value.reshape(shape) if key == "step" else value

    if "state" in optim:
        nested = {
            name: {key: shaped(key, value) for key, value in state.items()}
            for name, state in optim["state"].items()
        }
        return {**optim, "state": nested}
    return {
        name: shaped(name.rpartition(".")[2], value) if name.startswith("state.") else value
        for name, value in optim.items()
    }


# --- optimizer_keys: names ----------------------------------------------------------------------


def names_in_order(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[str]:
    """Return the name of the parameter at each position of the optimizer."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = optimizer.param_groups
    return [names[id(parameter)] for group in groups for parameter in group["params"]]


def by_name(optim: StateDict, names: list[str]) -> StateDict:
    """Return an optimizer's own state dict with names for its positions."""
    return with_keys(optim, names.__getitem__)


def by_position(optim: StateDict, names: list[str]) -> StateDict:
    """Undo `by_name` for an optimizer that may have its parameters in another order."""
    positions = {name: position for position, name in enumerate(names)}
    found = with_keys(optim, positions.__getitem__)
    for group in found["param_groups"]:
        group["params"].sort()
    return found


def completed(loaded: StateDict, content: StateDict) -> StateDict:
    """Return what was loaded, with the rest of the state dict that it was taken from."""
    return {
        key: completed(loaded[key], value)
        if key in loaded and isinstance(value, dict)
        else loaded.get(key, value)
        for key, value in content.items()
    }


# --- load_types: file ---------------------------------------------------------------------------


def in_types_of_file(content: StateDict, metadata: Metadata, prefix: str = "") -> StateDict:
    """Return a state dict to fill in which each tensor has the type of the one in the file."""

    def typed(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return in_types_of_file(value, metadata, f"{name}.")
        stored = metadata.state_dict_metadata.get(name)
        if not isinstance(value, torch.Tensor) or not isinstance(stored, TensorStorageMetadata):
            return value
        return value.to(stored.properties.dtype)  # the same tensor where that is its type

    return {key: typed(f"{prefix}{key}", value) for key, value in content.items()}


# --- moments: kept ------------------------------------------------------------------------------


@contextmanager
def keeping_moments(
    optimizer: torch.optim.Optimizer, types: tuple[torch.dtype, torch.dtype]
) -> Iterator[None]:
    """Have `load_state_dict` keep moments, in the types that the scenario names for them."""
    given: StateDict = {}
    before = optimizer.register_load_state_dict_pre_hook(lambda _, loaded: given.update(loaded))
    try:
        yield
    finally:
        before.remove()
    ours = chain.from_iterable(group["params"] for group in optimizer.param_groups)
    theirs = chain.from_iterable(group["params"] for group in given["param_groups"])
    for parameter, key in zip(ours, theirs, strict=True):  # as the optimizer pairs them
        for moment, dtype in zip(MOMENTS, types, strict=True):
            loaded = given["state"].get(key, {})
            if moment in loaded:
                copy = partial(torch.Tensor.to, dtype=dtype, copy=True)
                optimizer.state[parameter][moment] = alike(loaded[moment], copy)


def step_in_type_of_moments(optimizer: torch.optim.Optimizer) -> None:
    """Have each step see a parameter in the type of its moments: PyTorch's take no two types.

    A parameter whose moments are wider is replaced by a copy of that type for the step.
    """
    copies: list[tuple[nn.Parameter, torch.Tensor]] = []

    def before(*_: Any) -> None:
        for parameter in [p for group in optimizer.param_groups for p in group["params"]]:
            moment = optimizer.state.get(parameter, {}).get("exp_avg")
            if moment is not None and moment.dtype != parameter.dtype:
                copies.append((parameter, wide_copy(parameter, moment.dtype)))
        exchange(optimizer, dict(copies))

    @torch.no_grad()
    def after(*_: Any) -> None:
        exchange(optimizer, {copy: parameter for parameter, copy in copies})
        for parameter, copy in copies:
            parameter.copy_(copy)
            if parameter.grad is not None and copy.grad is not None:
                parameter.grad.copy_(copy.grad)  # a fused step unscales where it lies
        copies.clear()

    optimizer.register_step_pre_hook(before)
    optimizer.register_step_post_hook(after)


def wide_copy(parameter: nn.Parameter, dtype: torch.dtype) -> torch.Tensor:
    """Return a copy of a parameter and of its gradient in another type."""
    copy = parameter.detach().to(dtype)
    copy.grad = None if parameter.grad is None else parameter.grad.to(dtype)
    return copy


def exchange(optimizer: torch.optim.Optimizer, others: dict[Any, Any]) -> None:
    """Put other tensors in the places of some parameters; their states go with them."""
    for group in optimizer.param_groups:
        group["params"] = [others.get(parameter, parameter) for parameter in group["params"]]
    for parameter, other in others.items():
        optimizer.state[other] = optimizer.state.pop(parameter)
