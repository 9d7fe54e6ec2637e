"""Groups keep the scenario's names, whatever a load has made of them."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from adamant_megatron import Engine
from adamant_torch.scale import Scaling


def engine_of(names: list[str]) -> Any:
    """Return an engine with these groups of one parameter each, and nothing else."""
    engine: Any = Engine.__new__(Engine)
    groups = [{"params": [nn.Parameter(torch.ones(1))], "name": name} for name in names]
    engine.optimizer = torch.optim.AdamW(groups, lr=1.0)
    engine.group_names = names
    engine.scaling = Scaling("none", None)
    return engine


def test_groups_that_a_load_has_renamed_are_told_by_their_names() -> None:
    engine = engine_of(["", "g"])
    for group in engine.optimizer.param_groups:
        group["name"] = "of the checkpoint"
    assert [group["name"] for group in engine.groups()] == ["", "g"]
    engine.set({"groups": [{"name": "g", "lr": 0.5}]})
    assert [group["lr"] for group in engine.optimizer.param_groups] == [1.0, 0.5]


def test_another_setting_leaves_what_a_load_has_put_there() -> None:
    engine = engine_of(["", "g"])
    engine.optimizer.param_groups[1]["name"] = "of the checkpoint"
    engine.set({"clip": 2.0})
    assert engine.optimizer.param_groups[1]["name"] == "of the checkpoint"
    assert engine.scaling.clip_to == 2.0
