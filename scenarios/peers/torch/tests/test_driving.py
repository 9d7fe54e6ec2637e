"""Engines under a test's own hand: what `Driver` asks and shows, and what ranks inherit."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.fsdp import fully_shard

from adamant_torch import Engine, model
from adamant_torch.checkpoint import step_without_effect
from adamant_torch.driving import Driver, Failed, failures_end_with
from adamant_torch.protocol import EngineError, Message
from adamant_torch.shown import digests, element, found, header

WEIGHTS = {"w": torch.arange(12.0).reshape(4, 3), "b": torch.ones(4)}
ONES = {name: torch.ones_like(value) for name, value in WEIGHTS.items()}
SPIKES = {"w": torch.zeros(4, 3), "b": torch.zeros(4)}
SPIKES["w"][2, 2], SPIKES["b"][0] = 3.0, 4.0  # one on each of two ranks: the norm is exact


class OnItsOwnMesh(Engine):
    """Shards over the mesh that PyTorch makes where it is given none: it has no names."""

    def wrap(self, whole: model.Unit) -> nn.Module:
        """Shard."""
        for unit in model.units_of(whole):
            fully_shard(unit)
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


class Heard(Driver):
    """Keeps what it asked last."""

    heard: Message

    def ask(self, request: str, **fields: Any) -> Message:
        """Ask."""
        self.heard = {"request": request, **fields}
        return super().ask(request, **fields)


def test_an_open_says_all_that_the_protocol_has(tmp_path: Path) -> None:
    driver = Heard(Engine, tmp_path)
    with driver:
        with pytest.raises(Failed, match="16 ranks"):
            driver.open(
                {"w": [[1.0, 2.0]], "b": torch.zeros(0, 3)},
                shard=2,
                replicate=8,
                outer="optim",
                microbatches=5,
                order=["b", "w"],
                units={"w": 1},
                parts={"w": ["q"]},
                groups={"g": {"params": ["b"], "eps": 0.5}, "none": {"params": []}},
                clip=0.25,
                loss_scale="dynamic",
                types={"param": "bf16", "main": "fp32"},
                options={"implementation": "fused"},
                lr=0.5,
            )
        asked = driver.heard
    first = {"lr": 0.5, "betas": [0.9, 0.999], "weight_decay": 0.01, "bias_correction": True}
    assert asked["world"] == {"shard": 2, "replicate": 8, "outer": "optim"}
    assert (asked["layout"], asked["microbatches"]) == ("fsdp2", 5)
    assert asked["params"] == [
        {"name": "b", "shape": [0, 3], "group": 1, "unit": 0},
        {"name": "w", "shape": [1, 2], "group": 0, "unit": 1, "parts": ["q"]},
    ]
    assert asked["groups"] == [
        {"name": "", "eps": 1e-8, **first},
        {"name": "g", "eps": 0.5, **first},
        {"name": "none", "eps": 1e-8, **first},
    ]
    assert asked["optimizer"] == {
        "mode": "adamw",
        "step_counter": "parameter",
        "clip": 0.25,
        "loss_scale": "dynamic",
    }
    assert asked["precision"] == {
        "param": "bf16",
        "grad": "fp32",
        "main": "fp32",
        "exp_avg": "fp32",
        "exp_avg_sq": "fp32",
    }
    assert asked["options"]["implementation"] == "fused"
    assert asked["options"]["format"] == "dcp"


def test_a_program_is_calls(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(
            WEIGHTS, shard=2, clip=1.0, loss_scale="dynamic", groups={"g": {"params": ["b"]}}
        )
        overflow = {"rank": 1, "name": "w", "index": 9, "value": "inf"}
        driver.backward([ONES, ONES], without=["b"], loss_scale=65536.0, overflow=overflow)
        assert driver.clip() == "inf"
        assert driver.step() is False
        driver.zero_grad(set_to_none=False)
        driver.set(lr=0.5, loss_scale=4.0, groups={"g": {"lr": 0.25}})
        driver.backward([SPIKES, SPIKES])
        assert driver.clip() == 5.0
        assert driver.step() is True
        state = driver.state(whole=True)
        assert [group["lr"] for group in state["ranks"][1]["groups"]] == [0.5, 0.25]
        assert element(state, 1, "local/w", 2) == driver.whole()["w"][2, 2]
        assert header(state, 1)["whole/w"]["shape"] == [4, 3]


def test_checkpoints_go_by_name(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS, shard=2)
        driver.train(ONES)
        saved = driver.whole()
        assert ".metadata" in driver.save("a")["files"]
        driver.train(ONES)
        assert driver.save("b", crash=(0, 0))["outcome"] == "died"
        driver.open({name: -value for name, value in WEIGHTS.items()}, shard=1)
        driver.load("a")
        assert torch.equal(driver.whole()["w"], saved["w"])
        driver.close()
        with pytest.raises(Failed, match=r"load: .*no world"):
            driver.load("a")
        before = digests(driver.path("a"), "*.distcp")
        driver.flip("a/__0_0.distcp", 3)
        after = digests(driver.path("a"), "*.distcp")
        assert [name for name in before if before[name] != after[name]] == ["__0_0.distcp"]


def test_a_save_that_overlaps_is_waited_for(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS, options={"async_save": "overlapping"})
        assert driver.save("a")["unfinished"]
        assert ".metadata" in driver.finish()["files"]


def test_what_a_load_restores_is_the_same_in_any_world(tmp_path: Path) -> None:
    shown = []
    with Driver(Engine, tmp_path) as driver:
        for shard, replicate in ((1, 1), (3, 1), (8, 1), (2, 2)):
            driver.open(WEIGHTS, shard=shard, replicate=replicate, weight_decay=0.0)
            driver.train(ONES)
            shown.append(found(driver.state()))
        driver.train(ONES)
        later = found(driver.state())
    assert shown[1:] == shown[:1] * 3
    assert {"w", "b", "w/exp_avg", "w/exp_avg_sq", "w/step"} <= set(later)
    assert all(later[key] != shown[0][key] for key in later if later[key])


def test_moments_that_were_not_made_are_zeros(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS, shard=2)
        before = found(driver.state())
        driver.open({name: 0 * value for name, value in WEIGHTS.items()}, shard=2)
        driver.train({name: 0 * value for name, value in ONES.items()})
        after = found(driver.state())
    assert (before["w/exp_avg"], after["w/exp_avg"], after["w"]) == (b"", b"", b"")


def test_a_folder_that_nobody_named_goes() -> None:
    with Driver(Engine) as driver:
        driver.open(WEIGHTS)
        assert list(driver.folder.iterdir())
    assert not driver.folder.exists()


def test_gradients_are_for_each_rank(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS, shard=2)
        with pytest.raises(ValueError, match="1 sets of gradients for 2 ranks"):
            driver.backward([ONES])


def test_other_failures_have_a_status_of_their_own() -> None:
    with pytest.raises(SystemExit) as ended, failures_end_with(2):
        raise EngineError("out of paper")
    assert ended.value.code == 2


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


def test_what_failed_comes_with_the_traceback_of_the_rank(tmp_path: Path) -> None:
    with Driver(Engine, tmp_path) as driver:
        driver.open(WEIGHTS)
        with pytest.raises(Failed) as failed:
            driver.load("nowhere")
    told = "".join(traceback.format_exception(failed.value))
    rank, _, caller = told.partition("The above exception was the direct cause")
    assert 'checkpoint.py", line' in rank
    assert "CheckpointException" in rank
    assert 'driving.py", line' in caller
