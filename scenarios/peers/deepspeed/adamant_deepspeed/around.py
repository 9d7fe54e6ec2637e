"""Ways around what is known of DeepSpeed, each an option of the engine.

DEFECTS.md says what happens without them.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from adamant_deepspeed.places import Place

Settings = dict[str, Any]
STATES = "zero/optimizer_state.pt"


@contextmanager
def stepping_whatever_it_finds(zero: Any) -> Iterator[None]:
    """Let a step take gradients that are not finite, as one without loss scale does elsewhere.

    DeepSpeed skips it, also in fp32 and bf16, where nothing is scaled.
    """
    from deepspeed.runtime.zero import stage3, stage_1_and_2

    def no(*_: Any, **__: Any) -> bool:
        return False

    with (
        mock.patch.object(stage_1_and_2, "is_invalid_grad_norm", no),
        mock.patch.object(stage3, "is_invalid_grad_norm", no),
        mock.patch.object(zero, "check_overflow", no),
    ):
        yield


@contextmanager
def leaving_alone(
    places: list[Place], flats: Callable[[int], list[torch.Tensor]], rank: int
) -> Iterator[None]:
    """Put a rank's parts of parameters back: in weights and moments, the `flats` of a group."""
    kept = [(place, [flat.detach().clone() for flat in flats(place.group)]) for place in places]
    yield
    for place, before in kept:
        after = flats(place.group)
        own = place.local(rank, after[0].numel())
        with torch.no_grad():  # what a first step has made was nothing before
            for flat, old in zip_longest(after, before):
                flat[own] = 0.0 if old is None else old[own]


@contextmanager
def leaving_the_scale(zero: Any) -> Iterator[None]:
    """Let a step without any gradient tell nothing of a dynamic loss scale.

    DeepSpeed counts it as one without overflow. PyTorch's GradScaler is not asked there.
    """
    before = dict(vars(zero.loss_scaler))
    yield
    vars(zero.loss_scaler).update(before)


@contextmanager
def clipping_with_one_factor(zero: Any, true_norm: float) -> Iterator[None]:
    """Let a step multiply gradients by the limit over the norm, as PyTorch does.

    DeepSpeed divides the norm by the limit, and multiplies by one over that, which rounds once
    more. Where its norm is not finite, or a sign for that, `true_norm` says which.
    """
    unscale, limit = zero.unscale_and_clip_grads, zero.clip_grad

    def clip(found: Any, norm: Any) -> None:
        zero.clip_grad = 0.0
        unscale(found, norm)
        zero.clip_grad = limit
        unscaled = torch.as_tensor(norm) / zero.loss_scale
        is_finite = 0.0 <= float(unscaled) < math.inf
        whole = unscaled if is_finite else torch.tensor(true_norm)
        factor = torch.clamp(limit / (whole + 1e-6), max=1.0)
        if isinstance(found, int):  # ZeRO 3 names a group
            found = [zero.fp32_partitioned_groups_flat[found].grad]
        for gradient in found:
            gradient.data.mul_(factor)

    with mock.patch.object(zero, "unscale_and_clip_grads", clip):
        yield


def make_states(optimizer: torch.optim.Optimizer, flats: list[torch.Tensor]) -> None:
    """Give flat tensors that were never stepped the states that their first step would make.

    Without them the converter of ZeRO 3's checkpoints fails, and the others have no step.
    """
    for flat in flats:
        if not optimizer.state.get(flat):
            plain = isinstance(optimizer, (torch.optim.Adam, torch.optim.AdamW))
            step: Any = torch.tensor(0.0) if plain else 0
            zeros = {key: torch.zeros_like(flat.detach()) for key in ("exp_avg", "exp_avg_sq")}
            optimizer.state[flat] = {"step": step, **zeros}


def unpickled(path: Path) -> Any:
    """Return what DeepSpeed saved; a damaged file may name no other class than it does."""
    from deepspeed.runtime.fp16.loss_scaler import DynamicLossScaler, LossScaler
    from deepspeed.runtime.zero.config import ZeroStageEnum

    with torch.serialization.safe_globals([DynamicLossScaler, LossScaler, ZeroStageEnum]):
        return torch.load(path, weights_only=True)


def saved_groups(universal: str) -> list[Settings]:
    """Return the settings of all groups in a universal checkpoint."""
    found = unpickled(Path(universal, STATES))
    found = found.get("optimizer_state_dict", found)  # ZeRO 3 has them one level deeper
    groups: list[Settings] = found["param_groups"]
    return groups


def settings_of_each_group(zero: Any, universal: str) -> None:
    """Give each group its own settings, and each flat tensor its own counter.

    ZeRO 3 gives all groups the settings of the first, and all flat tensors one tensor for a
    counter, to which each of them adds one in a step.
    """
    for state in zero.optimizer.state.values():
        state["step"] = copy.deepcopy(state["step"])
    for group, saved in zip(zero.optimizer.param_groups, saved_groups(universal), strict=True):
        group.update({key: value for key, value in saved.items() if key != "params"})


@contextmanager
def mended(zero: Any, universal: str) -> Iterator[None]:
    """Let ZeRO 1 and 2 load states without the groups of which this rank holds only padding."""
    name = "load_hp_checkpoint_state_from_checkpoint_dir"
    original = getattr(zero, name)

    def load(*arguments: Any) -> None:
        with without_groups_of_padding(zero, universal):
            original(*arguments)

    with mock.patch.object(zero, name, load):
        yield


@contextmanager
def without_groups_of_padding(zero: Any, universal: str) -> Iterator[None]:
    """Hide from a load the groups of which this rank holds nothing but padding.

    ZeRO 1 and 2 fail on them: they look for the step of the first parameter, and there is none.
    Such a group gets its settings, the step of the others, and moments of zeros.
    """
    groups, members = zero.optimizer.param_groups, zero.bit16_groups
    holds = [any(one._hp_mapping is not None for one in group) for group in members]
    if all(holds):
        yield
        return
    load = torch.load

    def load_rest(path: Any, *rest: Any, **named: Any) -> Any:
        found = load(path, *rest, **named)
        if str(path).endswith(STATES):
            found = {**found, "param_groups": chosen(found["param_groups"], holds)}
        return found

    zero.optimizer.param_groups = chosen(groups, holds)
    zero.bit16_groups = chosen(members, holds)
    try:
        with mock.patch.object(torch, "load", load_rest):
            yield
    finally:
        zero.optimizer.param_groups, zero.bit16_groups = groups, members
    saved = saved_groups(universal)
    for group, own, settings, held in zip(groups, members, saved, holds, strict=True):
        if not held:
            group.update({key: value for key, value in settings.items() if key != "params"})
            padding(zero, group["params"][0], own, universal)


def padding(zero: Any, flat: torch.Tensor, members: list[Any], universal: str) -> None:
    """Give a flat tensor of padding the step of its group, and moments of zeros."""
    name = zero.param_names[members[0]]
    path = Path(universal, "zero", name, "step.pt")
    if path.exists():
        found = unpickled(path)
        step = found["param"] if isinstance(found, dict) else found
        zeros = {key: torch.zeros_like(flat) for key in ("exp_avg", "exp_avg_sq")}
        zero.optimizer.state[flat] = {"step": step, **zeros}


def chosen(values: list[Any], which: list[bool]) -> list[Any]:
    """Return the values that are wanted."""
    return [value for value, wanted in zip(values, which, strict=True) if wanted]
