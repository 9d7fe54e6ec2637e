"""Engines under a test's own hand: what `Driver` asks and shows, and what ranks inherit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard

from adamant_torch import Engine, model
from adamant_torch.checkpoint import step_without_effect
from adamant_torch.driving import Driver
from adamant_torch.protocol import EngineError

WEIGHTS = {"w": torch.arange(12.0).reshape(4, 3), "b": torch.ones(4)}
ONES = {name: torch.ones_like(value) for name, value in WEIGHTS.items()}


class OnItsOwnMesh(Engine):
    """Shards over the mesh that PyTorch makes where it is given none: it has no names."""

    def wrap(self, whole: model.Model) -> nn.Module:
        """Shard."""
        for index in range(whole.units):
            fully_shard(whole.unit(index))
        fully_shard(whole)
        return whole


def test_a_test_can_drive_an_engine(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS, shard=2, lr=0.5, weight_decay=0.0)
        driver.train(ONES)
        seen = driver.seen()
        assert [each["local/w"].shape for each in seen] == [(2, 3), (2, 3)]
        torch.testing.assert_close(driver.whole()["w"], WEIGHTS["w"] - 0.5)


def test_what_a_driver_must_have_raises(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver, pytest.raises(EngineError, match="no world"):
        driver.must("step")


def test_a_mesh_without_names_has_the_parts_of_each_rank(tmp_path: Path) -> None:
    with Driver(OnItsOwnMesh, tmp_path) as driver:
        driver.open(WEIGHTS, shard=2)
        shards = driver.must("state", prefix=str(tmp_path / "s"), whole=False)["ranks"][1]["shards"]
        offsets: dict[str, Any] = {each["name"]: each["offsets"] for each in shards}
        assert offsets == {"w": [2, 0], "b": [2]}


def test_a_step_without_effect_keeps_a_rate_that_is_a_tensor() -> None:
    weight = nn.Parameter(torch.ones(2))
    optimizer = torch.optim.AdamW([weight], lr=torch.tensor(0.5), foreach=False)
    rates: list[object] = []
    optimizer.register_step_pre_hook(lambda *_: rates.append(optimizer.param_groups[0]["lr"]))
    step_without_effect(optimizer)
    assert isinstance(rates[0], torch.Tensor)
    assert float(rates[0]) == 0.0
    assert float(optimizer.param_groups[0]["lr"]) == 0.5
    assert weight.tolist() == [1.0, 1.0]
