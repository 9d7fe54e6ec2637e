"""Saves and loads in every format, on other worlds, and what each way to save loses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from adamant_torch import model
from adamant_torch.requests import ParamSpec
from tests.peer import PARAMS, Launcher, World, different

Maker = Callable[..., World]
FORMATS = ["dcp", "hf_sharded", "hf_consolidated"]
WAYS = list(
    itertools.product(["helpers", "plain", "flat"], ["allocate", "step"], ["false", "true"])
)


@pytest.fixture(autouse=True)
def _needs_numpy() -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")


def tensors(form: str) -> dict[str, str]:
    """Return a format as what PyTorch can read again: Hugging Face's without settings."""
    return {"format": form, "settings": "left_out"}


def options(form: str, state_dict: str, template: str, async_save: str) -> dict[str, str]:
    return {
        **tensors(form),
        "state_dict": state_dict,
        "template": template,
        "async_save": async_save,
    }


@pytest.mark.parametrize(("state_dict", "template", "async_save"), WAYS)
@pytest.mark.parametrize("form", FORMATS)
def test_another_world_gets_back_what_was_saved(
    world: Maker, tmp_path: Path, form: str, state_dict: str, template: str, async_save: str
) -> None:
    chosen = options(form, state_dict, template, async_save)
    saved = world(shard=2, options=chosen, loss_scale="dynamic").open()
    saved.train(2)
    saved.launcher.must("set", groups=[{"name": "no_decay", "lr": 0.5}])
    ranks, _ = saved.state()
    before = saved.whole()
    directory = str(tmp_path / "checkpoint")
    reply = saved.launcher.must("save", directory=directory)
    assert reply["files"] == sorted(reply["files"])
    for name in reply["files"]:
        assert (tmp_path / "checkpoint" / name).is_file()
    carries_all = form == "dcp"
    lost = ["clip"] if carries_all else ["groups", "scaler", "clip"]
    assert reply["not_carried"] == lost

    other = world(shard=3, options=chosen, loss_scale="dynamic").open(initial_seed=9)
    assert other.launcher.must("load", directory=directory)["not_carried"] == lost
    assert different(before, other.whole()) == []
    loaded, _ = other.state()
    assert (loaded[0]["groups"] == ranks[0]["groups"]) == carries_all
    assert (loaded[0]["scale"]["growth_tracker"] == 2) == carries_all
    if form != "hf_consolidated":  # PyTorch consolidates tensors without dimensions to zeros
        assert [shard["steps"] for shard in loaded[0]["shards"]] == [2, 2, 2, 2]


@pytest.mark.parametrize("form", FORMATS)
def test_a_second_save_replaces_the_first(world: Maker, tmp_path: Path, form: str) -> None:
    one = world(options=tensors(form)).open()
    directory = str(tmp_path / "checkpoint")
    one.train()
    one.launcher.must("save", directory=directory)
    one.train()
    one.launcher.must("save", directory=directory)
    before = one.whole()
    one.train()
    one.launcher.must("load", directory=directory)
    assert different(before, one.whole()) == []


def test_names_find_their_values_in_any_order_and_positions_do_not(
    world: Maker, tmp_path: Path
) -> None:
    params = [
        {"name": "a", "shape": [4], "group": 0, "unit": 0},
        {"name": "b", "shape": [4], "group": 0, "unit": 0},
    ]
    for state_dict, finds in [("helpers", True), ("plain", False)]:
        chosen = {"state_dict": state_dict}
        directory = str(tmp_path / state_dict)
        one = world(params=params, options=chosen).open()
        one.train()
        before = one.whole()
        one.launcher.must("save", directory=directory)
        other = world(params=params[::-1], options=chosen).open(initial_seed=9)
        other.launcher.must("load", directory=directory)
        assert (different(before, other.whole()) == []) == finds


@pytest.mark.parametrize("template", ["allocate", "step"])
def test_a_recipe_with_wider_moments_can_be_loaded_and_shows_their_stored_type(
    world: Maker, tmp_path: Path, template: str
) -> None:
    chosen = {"template": template}
    directory = str(tmp_path / "checkpoint")
    one = world(options=chosen).open()
    one.train()
    one.launcher.must("save", directory=directory)
    recipe = {"param": "bf16", "grad": "bf16", "main": "none"}
    wide = {**recipe, "exp_avg": "fp32", "exp_avg_sq": "fp32"}
    other = world(options=chosen, precision=wide).open(initial_seed=9)
    other.launcher.must("load", directory=directory)
    stored = {name: value.dtype for name, value in other.whole().items()}
    assert stored[f"{PARAMS[0]['name']}/exp_avg"] == torch.bfloat16  # PyTorch keeps no wider ones


def test_a_missing_state_is_an_error_of_the_load_with_its_last_line(
    world: Maker, tmp_path: Path
) -> None:
    one = world().open()
    one.train(1, without=["b"])
    directory = str(tmp_path / "checkpoint")
    one.launcher.must("save", directory=directory)
    reply = one.open().launcher.ask("load", directory=directory)
    assert reply["outcome"] == "error"
    error = reply["ranks"][0]["error"]
    assert error["type"] == "CheckpointException"
    assert "Missing key" in error["text"]
    assert "\n" not in error["text"]
    assert "open comes first" in one.launcher.ask("step")["error"]["text"]


# Not here: PyTorch takes a first shard that is missing for rows that need no reading.
@pytest.mark.parametrize(
    ("form", "damage"),
    [
        ("dcp", "truncate"),
        ("dcp", "remove"),
        ("hf_sharded", "truncate"),
        ("hf_consolidated", "truncate"),
        ("hf_consolidated", "remove"),
    ],
)
def test_damage_is_noticed(world: Maker, tmp_path: Path, form: str, damage: str) -> None:
    one = world(options=tensors(form)).open()
    one.train()
    directory = tmp_path / "checkpoint"
    files = one.launcher.must("save", directory=str(directory))["files"]
    victim = directory / next(name for name in files if not name.startswith("sharded/"))
    if damage == "remove":
        victim.unlink()
    else:
        victim.write_bytes(victim.read_bytes()[:-40])
    assert one.launcher.ask("load", directory=str(directory))["outcome"] == "error"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("rank", [0, 1])
def test_a_crash_strikes_before_the_operation_asked_for(
    world: Maker, tmp_path: Path, rank: int, form: str
) -> None:
    one = world(options=tensors(form))
    first = tmp_path / "counted"
    one.open().train()
    crash = {"rank": rank, "operation": 10**6}
    whole = one.launcher.must("save", directory=str(first), crash=crash)
    operations = whole["ranks"][rank]["operations"]
    assert operations > 0
    assert "operations" not in whole["ranks"][1 - rank]
    for operation in (0, operations - 1):
        one.open().train()
        directory = tmp_path / f"crashed-{operation}"
        crash = {"rank": rank, "operation": operation}
        reply = one.launcher.ask("save", directory=str(directory), crash=crash)
        assert reply["outcome"] == "died"
        assert reply["ranks"][rank] == {"outcome": "died", "signal": 9}
        assert len(reply["files"]) <= len(whole["files"]) + 1  # a temporary file may be left
        assert "open comes first" in one.launcher.ask("step")["error"]["text"]


def test_a_save_to_where_nothing_can_be_written_is_an_error(world: Maker, tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    one = world().open()
    reply = one.launcher.ask("save", directory=str(blocked / "checkpoint"))
    assert reply["outcome"] == "error"
    assert reply["files"] == []


@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
@pytest.mark.parametrize("form", FORMATS)
def test_a_save_of_gradients_without_any_state_succeeds(
    world: Maker, tmp_path: Path, form: str, state_dict: str
) -> None:
    one = world(options={**tensors(form), "state_dict": state_dict}).open()
    one.backward()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))


def test_a_load_leaves_no_gradient_and_no_verdict(world: Maker, tmp_path: Path) -> None:
    one = world(loss_scale="dynamic").open()
    one.train()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    one.backward(2, overflow={"rank": 0, "name": "c", "index": 0, "value": "inf"})
    one.launcher.must("step")
    one.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    ranks, _ = one.state()
    assert not ranks[0]["scale"]["skipped"]
    assert not any(shard["has_gradient"] for shard in ranks[0]["shards"])


def test_states_of_all_parameters_are_in_the_template(world: Maker, tmp_path: Path) -> None:
    one = world(shard=4).open()
    one.train()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    one.open(initial_seed=9).launcher.must("load", directory=str(tmp_path / "checkpoint"))
    names = {f"{param['name']}/{key}" for param in PARAMS for key in ("exp_avg", "exp_avg_sq")}
    assert names <= set(one.whole())


def cut(file: Path) -> None:
    """Lose the second half of a file."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize(("form", "damaged"), [("dcp", "__1_0*"), ("hf_sharded", "shard-00002*")])
def test_a_world_that_refused_a_load_is_used_again_and_shows_the_bits_of_a_fresh_one(
    tmp_path: Path, form: str, damaged: str
) -> None:
    chosen = tensors(form)
    directory, intact = str(tmp_path / "checkpoint"), str(tmp_path / "intact")
    with Launcher() as fresh:
        one = World(fresh, tmp_path, options=chosen).open()
        one.train(2)
        fresh.must("save", directory=directory)
        fresh.must("save", directory=intact)
        expected = one.whole()
    cut(next(Path(directory).glob(damaged)))
    with Launcher() as used:
        one = World(used, tmp_path, options=chosen).open(initial_seed=5)
        one.train()
        one.backward(7)
        pids = used.ranks()
        assert used.ask("load", directory=directory)["outcome"] == "error"
        assert "open comes first" in used.ask("step")["error"]["text"]
        one.open().train(2)
        assert different(expected, one.whole()) == []
        one.open(initial_seed=9)
        used.must("load", directory=intact)
        assert different(expected, one.whole()) == []
        assert used.ranks() == pids


@pytest.mark.parametrize("engine", ["RefusesInTheMiddle", "RefusesInTheMiddleOfItsOwn"])
def test_a_world_whose_ranks_do_not_agree_on_their_collectives_ends(
    tmp_path: Path, engine: str
) -> None:
    with Launcher("--engine", f"tests.engines:{engine}") as launcher:
        one = World(launcher, tmp_path).open()
        pids = launcher.ranks()
        reply = launcher.ask("load", directory=str(tmp_path))
        assert {rank["outcome"] for rank in reply["ranks"]} == {"error"}
        one.open().train()
        assert set(pids).isdisjoint(launcher.ranks())


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize(("before", "after"), [("none", "dynamic"), (2.0, "none"), ("none", 2.0)])
def test_a_load_goes_without_a_scaler_where_one_side_has_none(
    world: Maker, tmp_path: Path, form: str, before: float | str, after: float | str
) -> None:
    saved = world(shard=1, options=tensors(form), loss_scale=before).open()
    saved.train(1)
    whole = saved.whole()
    saved.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    other = world(shard=2, options=tensors(form), loss_scale=after).open(initial_seed=9)
    reply = other.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert "scaler" in reply["not_carried"]
    assert different(whole, other.whole()) == []


def test_units_are_numbered_by_names_in_whatever_order_they_come() -> None:
    units = {"h.0.w": 0, "h.1.w": 1, "h.1.b": 1}
    keys = ["unit0.h/0/w", "unit1.h/1/w", "unit1.h/1/b"]
    for names, numbers in ((list(units), (0, 1)), (["h.1.w", "h.1.b", "h.0.w"], (1, 0))):
        params = [ParamSpec(name, (2,), 0, numbers[units[name]]) for name in names]
        opening: Any = SimpleNamespace(params=params, options={})
        found = model.full_names(opening)
        assert sorted(found.values()) == sorted(keys)
        built = model.Unit(model.tree({found[name]: [1.0, 2.0] for name in names}))
        assert list(built.state_dict()) == [found[name] for name in names]
