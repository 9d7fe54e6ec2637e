"""Recipes of types and loss scales: scaled gradients, verdicts of all ranks, growth."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from adamant_torch import tensor_file
from adamant_torch.model import mixed_precision
from adamant_torch.requests import Precision
from adamant_torch.scale import NEVER, Scaling
from tests.peer import FP32, PARAMS, World, different

Maker = Callable[..., World]


def mixed(param: str, grad: str, main: str = "fp32", moments: str = "fp32") -> dict[str, str]:
    return {"param": param, "grad": grad, "main": main, "exp_avg": moments, "exp_avg_sq": moments}


RECIPES = [
    FP32,
    mixed("fp32", "bf16", main="none"),
    mixed("bf16", "fp32"),
    mixed("bf16", "bf16"),
    mixed("fp16", "fp32"),
    mixed("fp16", "fp16"),
    mixed("bf16", "bf16", "none", "bf16"),
]
SCALERS = ["dtensor", "sharded", "local"]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: "-".join(recipe.values()))
@pytest.mark.parametrize(("shard", "replicate", "microbatches"), [(2, 1, 2), (2, 2, 8), (1, 2, 4)])
def test_every_recipe_has_its_types_and_exact_gradients(
    world: Maker, recipe: dict[str, str], shard: int, replicate: int, microbatches: int
) -> None:
    one = world(
        precision=recipe,
        shard=shard,
        replicate=replicate,
        microbatches=microbatches,
        options={"division": "hook"},
    ).open()
    one.backward()
    shares, whole = one.gradients(1), one.whole()
    for param in PARAMS:
        name = param["name"]
        mean = torch.stack([share[name] for share in shares]).sum(0) / microbatches
        assert torch.equal(whole[f"{name}/gradient"].float(), mean), name
    one.launcher.must("step")
    whole = one.whole()
    weights = recipe["param"] if recipe["main"] == "none" else recipe["main"]
    assert whole["c"].dtype == DTYPES[recipe["param"]]
    assert whole["c/exp_avg"].dtype == DTYPES[recipe["exp_avg"]] == DTYPES[weights]
    assert ("c/main" in whole) == (recipe["main"] != "none")
    if "c/main" in whole:
        assert torch.equal(whole["c"], whole["c/main"].to(whole["c"].dtype))


def test_a_reduction_in_a_type_narrower_than_the_weights_is_named() -> None:
    def named(recipe: dict[str, str]) -> torch.dtype | None:
        return mixed_precision(Precision(**recipe)).reduce_dtype

    assert named(mixed("bf16", "bf16")) == torch.bfloat16
    assert named(mixed("fp32", "bf16", main="none")) == torch.bfloat16
    assert named(mixed("bf16", "bf16", "none", "bf16")) is None
    assert named(FP32) is None


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: "-".join(recipe.values()))
def test_a_mean_is_rounded_in_the_type_of_the_reduction(
    world: Maker, recipe: dict[str, str]
) -> None:
    one = world(precision=recipe, microbatches=3).open()
    one.backward()
    shares, whole = one.gradients(1), one.whole()
    for param in PARAMS:
        name = param["name"]
        total = torch.stack([share[name] for share in shares]).sum(0)
        mean = (total / 3).to(DTYPES[recipe["grad"]])
        assert torch.equal(whole[f"{name}/gradient"], mean.to(whole[f"{name}/gradient"].dtype))


@pytest.mark.parametrize("scaler", SCALERS)
@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
def test_a_power_of_two_as_loss_scale_changes_no_bit(
    world: Maker, implementation: str, scaler: str
) -> None:
    states = []
    for loss_scale in ("none", 1024.0, "dynamic"):
        options = {"implementation": implementation, "scaler": scaler}
        one = world(loss_scale=loss_scale, options=options).open()
        one.train(3)
        states.append(one.whole())
    assert different(states[0], states[1]) == []
    assert different(states[0], states[2]) == []


def test_a_scale_that_fp16_cannot_hold_meets_the_gradient_before_it_is_rounded(
    world: Maker,
) -> None:
    tiny = [{"name": "p", "shape": [3], "group": 0, "unit": 0}]
    one = world(precision=mixed("fp16", "fp32"), loss_scale=65536.0, params=tiny).open()
    files = [str(one.folder / f"tiny-{rank}.safetensors") for rank in range(2)]
    for file in files:
        tensor_file.write(file, {"p": torch.tensor([2.0**-10, 0.0, -0.5])})
    one.launcher.must("backward", gradients=files)
    assert one.whole()["p/gradient"].tolist() == [64.0, 0.0, -32768.0]


def test_gradients_bear_the_scale_until_a_clip_or_a_step(world: Maker) -> None:
    one = world(loss_scale=8.0, clip=1e6).open()
    one.backward()
    ranks, files = one.state()
    assert not ranks[0]["scale"]["gradients_unscaled"]
    scaled = files[0]["whole/c/gradient"]
    one.launcher.must("clip")
    ranks, files = one.state()
    assert ranks[0]["scale"]["gradients_unscaled"]
    assert torch.equal(files[0]["whole/c/gradient"], scaled / 8.0)


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
@pytest.mark.parametrize(("shard", "replicate"), [(1, 1), (3, 1), (2, 2)])
@pytest.mark.parametrize("value", ["inf", "-inf", "nan"])
@pytest.mark.parametrize("scaler", SCALERS)
def test_a_value_on_one_rank_makes_all_ranks_skip(
    world: Maker, shard: int, replicate: int, value: str, implementation: str, scaler: str
) -> None:
    options = {"implementation": implementation, "scaler": scaler}
    fields = {"shard": shard, "replicate": replicate, "options": options}
    one = world(loss_scale="dynamic", **fields).open()
    one.train()
    before = one.whole()
    last = shard - 1 if shard < 3 else 1
    index = {1: 0, 2: 41, 3: 20}[shard]  # an element of c that rank `last` holds
    one.backward(2, overflow={"rank": last, "name": "c", "index": index, "value": value})
    applied = [rank["applied"] for rank in one.launcher.must("step")["ranks"]]
    assert applied == [False] * one.size
    ranks, _ = one.state()
    for rank in ranks:
        assert rank["scale"]["skipped"]
        assert rank["scale"]["loss_scale"] == 2.0**15
        assert rank["scale"]["growth_tracker"] == 0
        assert [shard["steps"] for shard in rank["shards"]] == [1, 1, 1, 1]
    one.launcher.must("zero_grad", set_to_none=True)
    assert different(before, one.whole()) == []


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
def test_gradients_of_a_skipped_step_bear_the_scale_that_the_report_says(
    world: Maker, implementation: str
) -> None:
    one = world(loss_scale=8.0, options={"implementation": implementation}).open()
    overflow = {"rank": 0, "name": "c", "index": 0, "value": "inf"}
    one.backward(1, overflow=overflow)
    scaled = one.whole()["b/gradient"]
    one.launcher.must("step")
    ranks, files = one.state()
    unscaled = implementation != "fused"
    assert ranks[0]["scale"]["gradients_unscaled"] == unscaled
    assert torch.equal(files[0]["whole/b/gradient"], scaled / 8.0 if unscaled else scaled)
    one.backward(2)
    added = one.whole()["b/gradient"]
    one.launcher.must("zero_grad", set_to_none=True)
    one.backward(2)
    assert torch.equal(added, scaled + one.whole()["b/gradient"])


def test_an_overflow_on_a_rank_that_does_not_hold_the_element_is_refused(world: Maker) -> None:
    one = world().open()
    files = [str(one.folder / f"gradient-{rank}.safetensors") for rank in range(2)]
    one.backward()
    overflow = {"rank": 0, "name": "c", "index": 41, "value": "inf"}
    reply = one.launcher.ask("backward", gradients=files, overflow=overflow)
    assert "element 41 does not lie on this rank" in reply["ranks"][0]["error"]["text"]


def test_a_fixed_scale_does_not_back_off(world: Maker) -> None:
    one = world(loss_scale=256.0).open()
    one.backward(1, overflow={"rank": 0, "name": "c", "index": 0, "value": "inf"})
    assert not one.launcher.must("step")["ranks"][0]["applied"]
    ranks, _ = one.state()
    assert ranks[0]["scale"]["loss_scale"] == 256.0


def test_a_second_step_uses_the_gradient_again(world: Maker) -> None:
    states = []
    for loss_scale in ("none", 1024.0):
        one = world(loss_scale=loss_scale).open()
        one.backward(1)
        one.launcher.must("step")
        one.launcher.must("step")
        one.backward(2)
        one.launcher.must("step")
        states.append(one.whole())
    assert different(states[0], states[1]) == []


def test_a_loss_scale_may_begin_change_and_end(world: Maker) -> None:
    one = world().open()
    for loss_scale, shown in [(4.0, 4.0), ("dynamic", 65536.0), (2.0, 2.0), ("none", 1.0)]:
        one.launcher.must("set", loss_scale=loss_scale)
        ranks, _ = one.state()
        assert ranks[0]["scale"]["loss_scale"] == shown
        one.train()


@pytest.mark.parametrize(("opened", "saved"), [(2.0, "dynamic"), ("dynamic", 2.0)])
def test_a_load_brings_the_kind_of_scale_that_was_saved(
    opened: float | str, saved: float | str
) -> None:
    scaling, other = Scaling(opened, None), Scaling(saved, None)
    assert scaling.scaler is not None
    assert other.scaler is not None
    scaling.scaler.load_state_dict(other.scaler.state_dict())
    scaling.loaded()
    assert (scaling.scaler.get_growth_interval() == NEVER) == (saved != "dynamic")
    assert scaling.value() == (2.0**16 if saved == "dynamic" else saved)
