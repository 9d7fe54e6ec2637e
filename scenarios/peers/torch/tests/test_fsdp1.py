"""FSDP1: its steps and checkpoints, what its ranks show together, and what is known of it.

Must catch: a run of elements that is put elsewhere, a mean by another number, a gradient that is
lost or made where FSDP1 cuts nothing, ranks that decide apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from adamant_torch import tensor_file
from defect_scripts import known
from tests.known import is_seen_here, with_options
from tests.peer import FP32, Launcher, Tensors, World, different, values
from tests.test_known import FSDP1 as KNOWN
from tests.test_known import are_as_known, needs_program, outcomes
from tests.test_step import WORLDS, alone

Maker = Callable[..., World]
ENGINE = "adamant_torch.fsdp1:FSDP1"
AROUND = {"alone": "no_shard", "missing_gradients": "none", "scaler": "unscaled_first"}
SMALL = 2.0**-149  # the least number above zero


@pytest.fixture(scope="module")
def fsdp1() -> Iterator[Launcher]:
    """Return a launcher of FSDP1."""
    with Launcher("--engine", ENGINE) as launcher:
        yield launcher


@pytest.fixture
def world(fsdp1: Launcher, tmp_path: Path) -> Maker:
    """Return a maker of worlds, with the ways around what is known."""

    def make(*, options: dict[str, str] | None = None, **fields: Any) -> World:
        return World(fsdp1, tmp_path, options={**AROUND, **(options or {})}, **fields)

    return make


def states(one: World) -> Tensors:
    """Return whole weights and moments; all ranks must see the same."""
    return {name: value for name, value in one.whole().items() if "/gradient" not in name}


@pytest.mark.parametrize(
    ("implementation", "answers"),
    [("single", ["torch", "interval"]), ("fused", ["interval"])],  # by the machine's kernels
)
def test_fused_steps_of_runs_are_not_judged_by_the_rows_that_are_shown(
    world: Maker, implementation: str, answers: list[str]
) -> None:
    rows = [{"name": "p", "shape": [2, 16], "group": 0, "unit": 0}]  # each row is whole vectors
    one = world(shard=2, params=rows, options={"implementation": implementation})
    assert one.launcher.must("open", **one.request())["arithmetic"] in answers


def test_a_rank_that_holds_no_element_loads_with_the_others_again(
    world: Maker, tmp_path: Path
) -> None:
    one = world(params=[{"name": "p", "shape": [1], "group": 0, "unit": 0}]).open()
    one.train()
    before = states(one)
    directory = str(tmp_path / "checkpoint")
    one.launcher.must("save", directory=directory)
    for _ in range(2):
        one.launcher.must("load", directory=directory)
    assert different(states(one), before) == []


@pytest.mark.parametrize("mode", ["adamw", "adam"])
@pytest.mark.parametrize("implementation", ["single", "foreach"])
@pytest.mark.parametrize(("shard", "replicate"), [*WORLDS, (7, 1)])
def test_any_world_has_the_bits_of_one_process(
    world: Maker, shard: int, replicate: int, implementation: str, mode: str
) -> None:
    options = {"implementation": implementation}
    one = world(shard=shard, replicate=replicate, options=options, mode=mode).open()
    one.train(3)
    assert different(states(one), alone(one, 3)) == []


@pytest.mark.parametrize("strategy", ["full_shard", "shard_grad_op"])
@pytest.mark.parametrize("microbatches", [1, 4, 7])
@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_gradients_add_up_and_go_and_the_mean_is_by_the_microbatches(
    world: Maker, shard: int, replicate: int, microbatches: int, strategy: str
) -> None:
    one = world(
        shard=shard,
        replicate=replicate,
        microbatches=microbatches,
        options={"strategy": strategy},
    ).open()
    one.backward(5)
    one.launcher.must("zero_grad", set_to_none=True)
    assert not any("/gradient" in name for name in one.whole())
    one.backward(1)
    one.backward(2)
    whole = one.whole()
    for name in ("a.weight", "a.bias", "b", "c"):
        means = [
            torch.stack([share[name] for share in one.gradients(seed)]).sum(0) / microbatches
            for seed in (1, 2)
        ]
        assert torch.equal(whole[f"{name}/gradient"], means[0] + means[1])


@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_a_missing_gradient_is_zeros_or_none_and_comes_back(
    world: Maker, shard: int, replicate: int
) -> None:
    for kept in ("zeros", "none"):
        options = {"missing_gradients": kept}
        one = world(shard=shard, replicate=replicate, options=options).open()
        one.backward(1, without=["a.bias", "b", "c"])
        shown = {name for name in one.whole() if name.endswith("/gradient")}
        assert ("a.bias/gradient" in shown) == (kept == "zeros")
        assert "b/gradient" not in shown  # of a unit without any
        one.backward(2)
        mean = torch.stack([share["a.bias"] for share in one.gradients(2)]).sum(0) / one.size
        assert torch.equal(one.whole()["a.bias/gradient"], mean)


@pytest.mark.parametrize("replicate", [1, 2])
def test_a_mean_of_subnormal_numbers_is_rounded_once_if_it_is_divided_once(
    world: Maker, tmp_path: Path, replicate: int
) -> None:
    for division, counts in [("fsdp1", 4.0), ("once", 3.0)]:
        ranks = {"shard": 2 // replicate, "replicate": replicate}
        one = world(**ranks, options={"division": division}).open()
        files = [str(tmp_path / f"{rank}") for rank in range(2)]
        odd = {name: torch.full_like(x, 3 * SMALL) for name, x in values(0, one.params).items()}
        for file in files:
            tensor_file.write(file, odd)
        one.launcher.must("backward", gradients=files)
        assert one.whole()["b/gradient"].tolist() == [counts * SMALL] * 2


@pytest.mark.parametrize("async_save", ["false", "true", "overlapping"])
@pytest.mark.parametrize(("state_dict", "template"), [("helpers", "allocate"), ("flat", "step")])
def test_another_world_gets_back_what_was_saved(
    world: Maker, tmp_path: Path, state_dict: str, template: str, async_save: str
) -> None:
    chosen = {"state_dict": state_dict, "template": template, "async_save": async_save}
    saved = world(shard=2, options=chosen, loss_scale="dynamic").open()
    if not saved.launcher.hello["capabilities"]["save"]:
        pytest.skip("numpy is not installed")
    saved.train(2)
    saved.launcher.must("set", groups=[{"name": "no_decay", "lr": 0.5}])
    ranks, _ = saved.state()
    before = saved.whole()
    saved.launcher.must("save", directory=str(tmp_path / "a"))
    for shard, replicate in [(3, 1), (1, 1), (2, 2)]:
        other = world(shard=shard, replicate=replicate, options=chosen, loss_scale="dynamic")
        other.open(initial_seed=9)
        other.launcher.must("load", directory=str(tmp_path / "a"))
        assert different(before, other.whole()) == []
        loaded, _ = other.state()
        assert loaded[0]["groups"] == ranks[0]["groups"]
        assert [shard["steps"] for shard in loaded[0]["shards"]] == [2] * 4


def test_each_of_both_loads_what_the_other_saved(
    world: Maker, launcher: Launcher, tmp_path: Path
) -> None:
    one, two = world(shard=3), World(launcher, tmp_path, shard=2)
    if not launcher.hello["capabilities"]["save"]:
        pytest.skip("numpy is not installed")
    for saves, loads in [(one, two), (two, one)]:
        directory = str(tmp_path / f"{saves.shard}")
        saves.open().train(2)
        before = saves.whole()
        saves.launcher.must("save", directory=directory)
        loads.open(initial_seed=9).launcher.must("load", directory=directory)
        assert different(before, loads.whole()) == []


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
@pytest.mark.parametrize("clip", [None, 1.0])
def test_all_ranks_skip_a_step_when_one_holds_an_infinity(
    world: Maker, tmp_path: Path, implementation: str, clip: float | None, everywhere: bool
) -> None:
    options = {"implementation": implementation}
    one = world(shard=3, options=options, clip=clip, loss_scale="dynamic").open()
    one.train()
    before = states(one)
    if everywhere:
        path = str(tmp_path / "infinite")
        wild = {name: torch.full_like(x, math.inf) for name, x in values(0, one.params).items()}
        tensor_file.write(path, wild)
        one.launcher.must("backward", gradients=[path] * 3)
    else:
        one.backward(2, overflow={"rank": 2, "name": "c", "index": 41, "value": "inf"})
    if clip is not None:
        one.launcher.must("clip")
    reply = one.launcher.must("step")
    assert [rank["applied"] for rank in reply["ranks"]] == [False] * 3
    assert different(before, states(one)) == []
    ranks, _ = one.state()
    assert {rank["scale"]["loss_scale"] for rank in ranks} == {32768.0}
    assert {shard["steps"] for rank in ranks for shard in rank["shards"]} == {1}


@pytest.mark.parametrize("clip", [None, 0.5])
def test_ranks_that_hold_nothing_scale_and_clip_with_the_others(
    world: Maker, clip: float | None
) -> None:
    one = [{"name": "w", "shape": [1], "group": 0, "unit": 0}]
    small = world(shard=3, params=one, clip=clip, loss_scale="dynamic").open()
    small.train(2)
    ranks, _ = small.state()
    assert [rank["scale"]["growth_tracker"] for rank in ranks] == [2] * 3
    assert [rank["shards"][0]["steps"] for rank in ranks] == [2] * 3
    assert len({rank["scale"]["norm"] for rank in ranks}) == 1


def test_what_is_shown_is_what_each_verb_has_left(world: Maker, tmp_path: Path) -> None:
    one = world(shard=3, clip=0.5).open()
    seen = [one.whole()]

    def changes(request: str, **fields: Any) -> set[str]:
        if request == "backward":
            one.backward()
        else:
            one.launcher.must(request, **fields)
        seen.append(one.whole())
        return {name.partition("/")[2] for name in different(*seen[-2:])}

    moments = {"exp_avg", "exp_avg_sq"}
    assert changes("backward") == {"gradient"}
    assert changes("clip") == {"gradient"}
    assert changes("step") == {"", *moments}
    assert changes("save", directory=str(tmp_path / "a")) == set()
    assert changes("step") == {"", *moments}
    assert changes("zero_grad", set_to_none=False) == {"gradient"}
    assert changes("load", directory=str(tmp_path / "a")) == {"", "gradient", *moments}


@pytest.mark.parametrize("main", ["fp32", "none"])
@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_recipes_of_bf16_reduce_exact_gradients(
    world: Maker, shard: int, replicate: int, main: str
) -> None:
    own = main if main != "none" else "bf16"
    types = {**FP32, "param": "bf16", "grad": "bf16", "main": main}
    types.update(exp_avg=own, exp_avg_sq=own)
    one = world(shard=shard, replicate=replicate, microbatches=1, precision=types).open()
    one.backward()
    shown = one.whole()
    assert shown["b"].dtype == torch.bfloat16
    for name in ("a.weight", "c"):
        total = torch.stack([share[name] for share in one.gradients(1)]).sum(0)
        assert torch.equal(shown[f"{name}/gradient"].float(), total)


# --- what is known -------------------------------------------------------------------------------


@needs_program
def test_each_scenario_shows_its_defect_and_not_with_the_options_that_avoid_it(
    tmp_path: Path,
) -> None:
    entries = known(KNOWN)
    names = sorted(name for entry in entries for name in entry.shown_by)
    assert names == sorted({path.name for path in KNOWN.glob("*.yaml")} - {"known.yaml"})
    found = outcomes(KNOWN, tmp_path / "results.json")
    expected: dict[str, str] = {}
    for entry in entries:
        expected |= dict.fromkeys(entry.shown_by, "violated" if is_seen_here(entry) else "pass")
    assert are_as_known(found, expected), found
    folder = tmp_path / "avoided"
    folder.mkdir()
    for entry in entries:
        for name in entry.shown_by if entry.avoid else ():
            text = (KNOWN / name).read_text(encoding="utf-8")
            (folder / name).write_text(with_options(text, entry.avoid), encoding="utf-8")
    avoided = outcomes(folder, tmp_path / "avoided.json")
    assert set(avoided) == {path.name for path in folder.iterdir()}
    assert set(avoided.values()) == {"pass"}
