"""Adam and AdamW as PyTorch has them, with the scenario's groups."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from adamant_torch.protocol import EngineError, Message
from adamant_torch.requests import GroupSpec, Opening

Settings = dict[str, Any]
KINDS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


def settings(group: GroupSpec) -> Settings:
    """Return what a group of a PyTorch optimizer is given."""
    return {
        "lr": group.lr,
        "betas": group.betas,
        "eps": group.eps,
        "weight_decay": group.weight_decay,
    }


def param_groups(opening: Opening, parameters: dict[str, nn.Parameter]) -> list[Settings]:
    """Return the optimizer's groups, parameters in registration order.

    "name" is the scenario's name of the group; PyTorch keeps what it does not know.
    """
    drops_empty = opening.options.get("empty_groups") == "dropped"
    groups = []
    for index, group in enumerate(opening.groups):
        own = [parameters[param.name] for param in opening.params if param.group == index]
        if own or not drops_empty:
            groups.append({"params": own, "name": group.name, **settings(group)})
    return groups


def make(groups: list[Settings], mode: str, implementation: str) -> torch.optim.Optimizer:
    """Return PyTorch's optimizer `mode` (adam, adamw) in one of its three implementations."""
    if mode not in KINDS:
        raise EngineError(f"optimizer mode {mode}: known are adam and adamw")
    chosen: Settings = implementations(implementation)
    return KINDS[mode](groups, **chosen)


def implementations(chosen: str) -> dict[str, bool]:
    """Return the arguments that choose one: left out, PyTorch would choose."""
    return {"foreach": chosen == "foreach", "fused": chosen == "fused"}


def set_group(optimizer: torch.optim.Optimizer, change: Message) -> None:
    """Apply one entry of a `set`: only the settings that it names."""
    for group in optimizer.param_groups:
        if group.get("name") != change.get("name", ""):
            continue
        for key in ("lr", "eps", "weight_decay"):
            if key in change:
                group[key] = float(change[key])
        if "betas" in change:
            first, second = change["betas"]
            group["betas"] = (float(first), float(second))


def report(optimizer: torch.optim.Optimizer) -> list[Message]:
    """Return the settings of all groups, as they are now, but of one that has lost them all."""
    return [
        {
            "name": str(group.get("name", "")),  # a load may have put anything there
            "lr": float(group["lr"]),
            "betas": [float(beta) for beta in group["betas"]],
            "eps": float(group["eps"]),
            "weight_decay": float(group["weight_decay"]),
        }
        for group in optimizer.param_groups
        if "lr" in group
    ]
