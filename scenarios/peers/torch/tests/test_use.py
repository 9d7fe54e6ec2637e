"""Ways to use FSDP2: the same bits by each of them, and each really taken."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from adamant_torch import accumulation, tensor_file
from adamant_torch.driving import Driver
from adamant_torch.model import AVERAGES
from adamant_torch.protocol import EngineError
from tests.known import entry, is_seen_here
from tests.peer import World, different
from tests.test_step import WORLDS, alone
from tests.watched import Watched, lines

Maker = Callable[..., World]
MIXED = {"param": "bf16", "grad": "fp32", "main": "fp32", "exp_avg": "fp32", "exp_avg_sq": "fp32"}
WEIGHTS = {"w": torch.arange(12.0).reshape(4, 3), "h.0.b": torch.ones(4), "h.1.c": -torch.ones(5)}
ONES = {name: torch.ones_like(value) for name, value in WEIGHTS.items()}
SHARDED, HALF, WHOLE = ["SHARDED"], ["SHARDED_POST_FORWARD"], ["UNSHARDED"]
WAYS = [
    {"reshard_after_forward": "true"},
    {"reshard_after_forward": "false"},
    {"reshard_after_forward": "half"},
    {"wrapping": "nested"},
    {"wrapping": "root"},
    {"wrapping": "nested", "reshard_after_forward": "half", "accumulation": "unsharded"},
    {"accumulation": "unsharded"},
    {"accumulation": "sharded"},
    {"accumulation": "unsharded", "passes": "parameters"},
    {"optimizers": "per_group"},
    {"without": "frozen"},
    {"lazy_init": "at_open"},
]
SAME = [way for way in WAYS if way.get("passes") != "parameters"]  # which some types refuse


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(Watched, "log", tmp_path / "log", raising=False)
    return tmp_path / "log"


def watch(folder: Path, shard: int, replicate: int = 1, **options: str) -> None:
    """Run an iteration of three units."""
    units = {"w": 0, "h.0.b": 1, "h.1.c": 2}
    with Driver(Watched, folder) as driver:
        driver.open(WEIGHTS, shard=shard, replicate=replicate, options=options, units=units)
        driver.train(ONES)


@pytest.mark.parametrize(("shard", "replicate"), [*WORLDS, (4, 2)])
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(way.values()))
def test_each_way_has_the_bits_of_one_process(
    world: Maker, way: dict[str, str], shard: int, replicate: int
) -> None:
    one = world(shard=shard, replicate=replicate, options={**way, "division": "hook"}).open()
    one.train(3)
    assert different(one.whole(), alone(one, 3)) == []


@pytest.mark.parametrize("way", SAME, ids=lambda way: "-".join(way.values()))
@pytest.mark.parametrize("loss_scale", ["none", "dynamic"])
def test_each_way_comes_to_the_same_without_some_gradients(
    world: Maker, way: dict[str, str], loss_scale: str
) -> None:
    states = []
    for options in ({"lazy_init": "at_open"}, {"lazy_init": "at_open", **way}):
        one = world(options=options, precision=dict(MIXED), loss_scale=loss_scale, clip=0.5).open()
        one.train(1, without=["b", "c"])
        one.train(2)
        one.train(1, without=["a.weight", "a.bias"])
        states.append(one.whole())
    assert different(states[0], states[1]) == []


@pytest.mark.parametrize(
    ("way", "wrapping", "units", "root"),
    [
        ("auto", "units", SHARDED, []),
        ("true", "units", SHARDED, []),
        ("false", "units", WHOLE, []),
        ("half", "units", HALF, []),
        ("auto", "root", None, WHOLE),
        ("true", "root", None, SHARDED),
        ("half", "root", None, HALF),
    ],
)
def test_parameters_are_resharded_after_the_forward_as_asked_for(
    tmp_path: Path, log: Path, way: str, wrapping: str, units: list[str] | None, root: list[str]
) -> None:
    watch(tmp_path, 4, reshard_after_forward=way, wrapping=wrapping)
    last = lines(log, "forwarded")[-1]["states"]
    assert last.pop("") == root
    assert last == ({} if units is None else {f"unit{number}": units for number in range(3)})
    for line in [*lines(log, "forward"), *lines(log, "backward")]:
        for name, numbers in line["sees"].items():
            assert numbers == WEIGHTS[name.replace("/", ".")].flatten().tolist()


@pytest.mark.parametrize(
    ("wrapping", "expected"),
    [
        ("units", {"": [], "unit0": ["h/0/b"], "unit1": ["h/1/c"], "unit2": ["w"]}),
        ("root", {"": ["w", "h/0/b", "h/1/c"]}),
        (
            "nested",
            {"": [], "unit0": ["h/0/b"], "unit0.unit1": ["h/1/c"], "unit0.unit1.unit2": ["w"]},
        ),
    ],
)
def test_modules_are_sharded_as_asked_for(
    tmp_path: Path, log: Path, wrapping: str, expected: dict[str, list[str]]
) -> None:
    watch(tmp_path, 2, wrapping=wrapping)
    assert {line["name"]: line["held"] for line in lines(log, "module")} == expected
    innermost = [line["states"] for line in lines(log, "forward")][-1]
    whole = [name for name, states in innermost.items() if states == WHOLE]
    nested = ["unit0", "unit0.unit1", "unit0.unit1.unit2"]
    assert whole == {"units": ["unit1"], "root": [""], "nested": nested}[wrapping]


def test_groups_that_pytorch_makes_for_its_modules_go_with_their_engine(
    tmp_path: Path, log: Path
) -> None:
    with Driver(Watched, tmp_path) as driver:
        for _ in range(3):
            driver.open(WEIGHTS, shard=4, options={"reshard_after_forward": "half"})
            driver.train(ONES)
    counts = [line["groups"] for line in lines(log, "wrapped")]
    assert counts == [counts[0]] * 3


@pytest.mark.parametrize(
    ("way", "replicate", "first"),
    [
        ("unsharded", 1, {"sharded": False, "unsharded": True, "partial": False}),
        ("unsharded", 2, {"sharded": False, "unsharded": True, "partial": False}),
        ("sharded", 2, {"sharded": False, "unsharded": False, "partial": True}),
        ("sharded", 1, {"sharded": True, "unsharded": False, "partial": False}),
    ],
)
def test_gradients_wait_where_they_should(
    tmp_path: Path, log: Path, way: str, replicate: int, first: dict[str, bool]
) -> None:
    watch(tmp_path, 2, replicate, accumulation=way)
    noted = [{key: line[key] for key in first} for line in lines(log, "pass")]
    assert noted == [first, {"sharded": True, "unsharded": False, "partial": False}]


def test_by_default_there_is_one_pass(tmp_path: Path, log: Path) -> None:
    watch(tmp_path, 2)
    assert len(lines(log, "pass")) == 1


@pytest.mark.parametrize("way", ["elements", "parameters"])
def test_passes_add_up_to_the_bits_of_any_gradient(way: str) -> None:
    inf, nan = float("inf"), float("nan")
    whole = {
        "a": torch.tensor([[1.0, -0.0, 0.0], [inf, -inf, nan]]),
        "b": torch.tensor([-0.0]),
        "c": torch.tensor([2.0**-149, -0.0, -(2.0**-149), 1.5]),
    }
    first, second = accumulation.passes(whole, way)
    summed = {
        name: first[name] + second[name]
        if name in first and name in second
        else {**first, **second}[name]
        for name in whole
    }
    assert different(summed, whole) == []
    assert different(dict(first), whole) != []
    assert different(dict(second), whole) != []


@pytest.mark.skipif(not is_seen_here(entry("partial_sums")), reason="mended in this release")
def test_sums_of_replicas_that_wait_are_added_to_other_parameters(world: Maker) -> None:
    chosen = {"accumulation": "sharded", "passes": "parameters"}
    pair = [{"name": n, "shape": [4], "group": 0, "unit": 0} for n in ("a", "b")]
    one = world(shard=1, replicate=2, params=pair, options=chosen).open()
    one.backward()
    total = torch.stack([share[n] for share in one.gradients(1) for n in ("a", "b")]).sum(0)
    whole = one.whole()
    assert "a/gradient" not in whole
    assert torch.equal(whole["b/gradient"], total / 2)


@pytest.mark.skipif(not AVERAGES, reason="older releases are never left to their own averages")
@pytest.mark.parametrize("averages", ["once", "own"])
def test_fsdp2_left_to_itself_is_an_average_of_averages(world: Maker, averages: str) -> None:
    big = [{"name": "a", "shape": [400], "group": 0, "unit": 0}]
    one = world(shard=3, replicate=2, params=big, options={"averages": averages}).open()
    one.backward()
    shares = torch.stack([share["a"] for share in one.gradients(1)])
    once, found = shares.sum(0) / 6, one.whole()["a/gradient"]
    twice = (shares[:3].sum(0) / 3 + shares[3:].sum(0) / 3) / 2
    assert not torch.equal(once, twice)
    assert torch.equal(found, {"once": once, "own": twice}[averages])


def test_parameters_without_gradient_are_frozen_or_left_out(tmp_path: Path, log: Path) -> None:
    for way in ("unused", "frozen"):
        with Driver(Watched, tmp_path) as driver:
            driver.open(WEIGHTS, shard=2, options={"without": way}, units={"h.0.b": 1})
            driver.backward([ONES] * 2, without=("h.0.b",))
            assert driver.whole().keys() >= {"w/gradient", "h.1.c/gradient"}
            assert "h.0.b/gradient" not in driver.whole()
            driver.backward([ONES] * 2)
    every, some = sorted(WEIGHTS), ["h.1.c", "w"]
    assert [sorted(line["trains"]) for line in lines(log, "pass")] == [every, every, some, every]
    calls = [line["name"] for line in lines(log, "forward")]
    assert calls.count("unit0") == 1 + 2  # a frozen one is called as well


def outcome_of(way: str, cause: str) -> str:
    """Return how a backward ends that meets a defect which `lazy_init: at_open` goes around."""
    return "error" if way == "by_forward" and is_seen_here(entry(cause)) else "ok"


@pytest.mark.parametrize("way", ["by_forward", "at_open"])
def test_a_unit_that_is_frozen_in_the_first_forward_trains_later_where_it_knows_its_types(
    world: Maker, way: str
) -> None:
    one = world(options={"without": "frozen", "lazy_init": way}, precision=dict(MIXED)).open()
    one.backward(without=["a.weight", "a.bias"])
    files = [str(one.folder / f"gradient-{rank}.safetensors") for rank in range(2)]
    reply = one.launcher.ask("backward", gradients=files)
    assert reply["outcome"] == outcome_of(way, "frozen_in_first_forward")


@pytest.mark.parametrize("way", ["by_forward", "at_open"])
def test_a_unit_that_is_never_called_ends_a_pass_without_reduction(world: Maker, way: str) -> None:
    chosen = {"accumulation": "unsharded", "lazy_init": way}
    one = world(options=chosen, precision=dict(MIXED)).open()
    files = [str(one.folder / f"gradient-{rank}.safetensors") for rank in range(2)]
    for rank, tensors in enumerate(one.gradients(1)):
        tensor_file.write(files[rank], tensors)
    reply = one.launcher.ask("backward", gradients=files, without=["b", "c"])
    assert reply["outcome"] == outcome_of(way, "unused_without_reduction")


def test_a_model_that_is_no_fsdp_module_does_not_accumulate() -> None:
    with pytest.raises(EngineError, match="no FSDPModule"):
        accumulation.reduce(torch.nn.Linear(1, 1), "unsharded", False)
