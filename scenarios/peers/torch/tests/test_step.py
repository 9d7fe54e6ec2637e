"""Gradients, steps and settings, against PyTorch's own optimizer on whole tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from adamant_torch import arithmetic, tensor_file
from adamant_torch import optimizer as optimizers
from adamant_torch.model import DTYPES
from tests.peer import FP32, GROUP, PARAMS, World, different, values

Maker = Callable[..., World]
WORLDS = [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2), (1, 3)]


def alone(one: World, steps: int, without: tuple[str, ...] = ()) -> dict[str, torch.Tensor]:
    """Return the state that PyTorch's optimizer reaches on whole tensors, without any sharding."""
    implementation = one.options.get("implementation", "single")
    chosen = {"foreach": implementation == "foreach", "fused": implementation == "fused"}
    weights = {name: torch.nn.Parameter(value) for name, value in values(0, one.params).items()}
    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[one.mode]
    settings: dict[str, Any] = {**GROUP, "betas": (0.9, 0.999)}
    groups = [
        {**settings, "params": [weights[p["name"]] for p in one.params if p["group"] == 0]},
        {
            **settings,
            "weight_decay": 0.0,
            "params": [weights[p["name"]] for p in one.params if p["group"] == 1],
        },
    ]
    optimizer = kind(groups, **chosen)
    for seed in range(1, steps + 1):
        shares = one.gradients(seed)
        for name, weight in weights.items():
            total = torch.stack([share[name] for share in shares]).sum(0)
            mean = total / float(one.microbatches or one.size)
            weight.grad = None if name in without else mean
        optimizer.step()
    result = {}
    for name, weight in weights.items():
        result[name] = weight.detach()
        for key in ("exp_avg", "exp_avg_sq"):
            if key in optimizer.state[weight]:
                result[f"{name}/{key}"] = optimizer.state[weight][key]
    return result


@pytest.mark.parametrize("mode", ["adamw", "adam"])
@pytest.mark.parametrize("implementation", ["single", "foreach"])
@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_any_world_has_the_bits_of_one_process(
    world: Maker, shard: int, replicate: int, implementation: str, mode: str
) -> None:
    options = {"implementation": implementation, "division": "hook"}
    one = world(shard=shard, replicate=replicate, options=options, mode=mode).open()
    one.train(3)
    assert different(one.whole(), alone(one, 3)) == []


@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_the_fused_step_differs_by_roundings_alone(
    world: Maker, shard: int, replicate: int
) -> None:
    options = {"implementation": "fused", "division": "hook"}
    one = world(shard=shard, replicate=replicate, options=options).open()
    one.train(3)
    mine, whole = one.whole(), alone(one, 3)
    for name, value in whole.items():
        torch.testing.assert_close(mine[name], value, rtol=1e-6, atol=1e-9)


@pytest.mark.skipif(not arithmetic.known(), reason="kernels here have no fused multiply-add")
@pytest.mark.parametrize("mode", ["adamw", "adam"])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.25, 0.5), (0.0, 0.0)])
@pytest.mark.parametrize("elements", [16, 48, 16000])  # vectors have 8 or 16
def test_fused_moments_of_whole_vectors_have_the_bits_of_a_single_step(
    mode: str, betas: tuple[float, float], elements: int
) -> None:
    kind = {"adamw": torch.optim.AdamW, "adam": torch.optim.Adam}[mode]
    states = []
    for fused in (False, True):
        generator = torch.Generator().manual_seed(elements)
        start = torch.randn(elements, generator=generator)
        weight = torch.nn.Parameter(start.clone())
        chosen: dict[str, bool] = {"fused": fused, "foreach": False}
        optimizer = kind([weight], lr=0.01, betas=betas, weight_decay=0.1, **chosen)
        for _ in range(3):
            with torch.no_grad():
                weight.copy_(start)  # whose root may differ between the two
            exponents = torch.randint(-40, 40, (elements,), generator=generator)
            weight.grad = torch.randn(elements, generator=generator) * 2.0**exponents
            optimizer.step()
        states.append(optimizer.state[weight])
    for key in ("exp_avg", "exp_avg_sq"):
        assert torch.equal(states[0][key], states[1][key])


def answer(world: Maker, rows: int, shard: int, **chosen: str) -> str:
    """Return by what a world with one parameter of rows of four says that it can be judged."""
    params = [{"name": "p", "shape": [rows, 4], "group": 0, "unit": 0}]
    one = world(shard=shard, params=params, options=chosen)
    return str(one.launcher.must("open", **one.request())["arithmetic"])


@pytest.mark.skipif(not arithmetic.known(), reason="kernels here have no fused multiply-add")
def test_fused_steps_are_judged_to_the_bit_where_all_shards_are_whole_vectors(world: Maker) -> None:
    rows = arithmetic.VECTOR[arithmetic.instruction_set()] // 4
    assert answer(world, 3 * rows, 3, implementation="fused") == "torch_fused"
    assert answer(world, 3 * rows, 3, implementation="fused", scaler="local") == "torch"
    assert answer(world, 2 * rows, 3, implementation="fused") == "interval"
    assert answer(world, 3 * rows + 1, 1, implementation="fused") == "interval"
    assert answer(world, 3 * rows + 1, 1, implementation="foreach") == "torch"


@pytest.mark.skipif(not arithmetic.known(), reason="kernels here have no fused multiply-add")
@pytest.mark.parametrize(
    ("groups", "verdicts", "expected"),
    [
        ([0, 1], "apart", "torch_fused"),
        ([0, 1], "together", "torch"),
        ([0], "together", "torch_fused"),
    ],
)
def test_fused_steps_of_several_that_are_judged_together_find_unscaled_gradients(
    world: Maker, groups: list[int], verdicts: str, expected: str
) -> None:
    params = [{"name": f"p{group}", "shape": [16], "group": group, "unit": 0} for group in groups]
    options = {"implementation": "fused", "optimizers": "per_group", "verdicts": verdicts}
    one = world(shard=1, params=params, options={**options, "empty_groups": "dropped"})
    assert one.launcher.must("open", **one.request())["arithmetic"] == expected


def test_a_groups_name_is_told_as_text_whatever_a_load_made_of_it() -> None:
    groups = [{"params": [torch.zeros(1)], "name": 0.5}]
    assert optimizers.report(torch.optim.Adam(groups))[0]["name"] == "0.5"


def test_ranks_that_differ_are_held_to_an_interval() -> None:
    assert arithmetic.together(["torch_fused", "torch_fused"]) == "torch_fused"
    assert arithmetic.together(["torch_fused", "interval"]) == "interval"
    assert arithmetic.together(["torch", "torch_fused"]) == "interval"


@pytest.mark.parametrize("scale", [1000.0, 1024.0])
@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
def test_a_scale_is_undone_by_a_reciprocal_or_in_a_fused_step_by_a_division(
    world: Maker, implementation: str, scale: float
) -> None:
    one = world(loss_scale=scale, options={"implementation": implementation}).open()
    one.backward()
    scaled = one.whole()["c/gradient"]
    one.launcher.must("step")
    reciprocal = torch.tensor(scale).double().reciprocal().float()
    undone = scaled / scale if implementation == "fused" else scaled * reciprocal
    assert torch.equal(one.whole()["c/gradient"], undone)


@pytest.mark.parametrize("microbatches", [1, 3, 4, 6, 7])
@pytest.mark.parametrize(("shard", "replicate"), WORLDS)
def test_the_mean_is_one_division_by_the_microbatches(
    world: Maker, shard: int, replicate: int, microbatches: int
) -> None:
    chosen = {"division": "hook"}  # where a shard group has one rank
    one = world(shard=shard, replicate=replicate, microbatches=microbatches, options=chosen).open()
    one.backward()
    shares, whole = one.gradients(1), one.whole()
    for param in PARAMS:
        name = param["name"]
        mean = torch.stack([share[name] for share in shares]).sum(0) / float(microbatches)
        assert torch.equal(whole[f"{name}/gradient"], mean), name


def test_two_backwards_before_a_step_add_up(world: Maker) -> None:
    one = world().open()
    one.backward(1)
    first = one.whole()
    one.backward(2)
    second = one.whole()
    one.launcher.must("zero_grad", set_to_none=True)
    one.backward(2)
    alone_second = one.whole()
    for param in PARAMS:
        key = f"{param['name']}/gradient"
        assert torch.equal(second[key], first[key] + alone_second[key])


@pytest.mark.parametrize("without", [("b",), ("a.weight", "a.bias"), ("b", "c", "a.bias")])
def test_a_parameter_without_gradient_stays_as_it_is(
    world: Maker, without: tuple[str, ...]
) -> None:
    one = world(shard=3).open()
    one.backward(1, without=list(without))
    one.launcher.must("step")
    ranks, _ = one.state()
    for shard in ranks[0]["shards"]:
        assert shard["has_gradient"] == (shard["name"] not in without)
        assert shard["steps"] == (0 if shard["name"] in without else 1)
    one.launcher.must("zero_grad", set_to_none=True)
    assert different(one.whole(), alone(one, 1, without)) == []


def test_a_backward_without_any_gradient_and_a_step_after_it_change_nothing(world: Maker) -> None:
    one = world(loss_scale="dynamic").open()
    before = one.whole()
    one.backward(1, without=[param["name"] for param in PARAMS])
    assert [rank["applied"] for rank in one.launcher.must("step")["ranks"]] == [True, True]
    assert different(before, one.whole()) == []


def test_gradients_of_zeros_decay_and_none_do_not(world: Maker) -> None:
    one = world().open()
    one.backward()
    one.launcher.must("zero_grad", set_to_none=False)
    before = one.whole()
    assert not before["c/gradient"].any()
    one.launcher.must("step")
    decayed = one.whole()
    assert torch.equal(decayed["c"], before["c"] * (1 - 1e-3 * 0.01))
    one.launcher.must("zero_grad", set_to_none=True)
    one.launcher.must("step")
    assert torch.equal(one.whole()["c"], decayed["c"])


def test_local_shards_lie_where_their_offsets_say(world: Maker) -> None:
    one = world(shard=4).open()
    one.train()
    ranks, files = one.state()
    for rank, file in zip(ranks, files, strict=True):
        for shard in rank["shards"]:
            name, rows = shard["name"], shard["offsets"][0]
            for suffix in ("", "/exp_avg", "/exp_avg_sq"):
                whole = file[f"whole/{name}{suffix}"]
                local = file[f"local/{name}{suffix}"]
                assert list(local.shape) == shard["shape"]
                assert torch.equal(local, whole[rows : rows + local.shape[0]])
    assert [rank["shards"][2]["shape"] for rank in ranks] == [[1], [1], [0], [0]]
    assert ranks[3]["shards"][2]["offsets"] == [2]


@pytest.mark.parametrize("param", ["bf16", "fp16"])
def test_main_weights_begin_as_what_the_parameters_are(world: Maker, param: str) -> None:
    one = world(precision={**FP32, "param": param, "main": "fp32"})
    request = one.request()
    thirds = {name: value / 3.0 for name, value in values(0, one.params).items()}
    tensor_file.write(request["initial"], thirds)
    one.launcher.must("open", **request)
    for name, value in thirds.items():
        assert torch.equal(one.whole()[f"{name}/main"], value.to(DTYPES[param]).float()), name


def test_set_changes_the_named_group_alone(world: Maker) -> None:
    one = world().open()
    change = {"name": "no_decay", "lr": 0.5, "betas": [0.5, 0.25], "eps": 1.0, "weight_decay": 2.0}
    one.launcher.must("set", groups=[change])
    ranks, _ = one.state()
    for rank in ranks:
        assert rank["groups"] == [{"name": "", **GROUP}, change]


def test_clipping_reports_the_norm_and_scales_by_it(world: Maker) -> None:
    one = world(clip=0.5).open()
    one.backward()
    before = one.whole()
    norms = [rank["norm"] for rank in one.launcher.must("clip")["ranks"]]
    gradients = [before[f"{param['name']}/gradient"].double() for param in PARAMS]
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm().item()
    assert norms == [pytest.approx(norm, rel=1e-6)] * 2
    after = one.whole()["c/gradient"]
    torch.testing.assert_close(after, before["c/gradient"] * (0.5 / norm), rtol=1e-5, atol=0)


def test_a_clip_without_a_norm_is_an_error_of_the_protocol(world: Maker) -> None:
    one = world().open()
    reply = one.launcher.ask("clip")
    assert {rank["error"]["type"] for rank in reply["ranks"]} == {"protocol"}


def test_offloaded_shards_take_the_same_steps(world: Maker) -> None:
    states = []
    for policy in ("none", "cpu"):
        one = world(options={"offload_policy": policy}).open()
        one.train(2)
        states.append(one.whole())
    assert different(states[0], states[1]) == []
