"""Ways around known defects: without the option the defect shows, with it it does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from adamant_torch import saves
from tests.known import entry, is_seen_here
from tests.peer import FP32, Launcher, World, different

Maker = Callable[..., World]
PAIR: list[dict[str, Any]] = [
    {"name": "a", "shape": [4], "group": 0, "unit": 0},
    {"name": "b", "shape": [4], "group": 0, "unit": 0},
]
WIDE = {"param": "bf16", "grad": "bf16", "main": "none", "exp_avg": "fp32", "exp_avg_sq": "fp32"}
TENSORS = {"format": "hf_consolidated", "settings": "left_out"}
EMPTY: list[dict[str, Any]] = [
    {"name": "a", "shape": [4], "group": 0, "unit": 0},
    {"name": "none", "shape": [5, 0, 2], "group": 0, "unit": 0},
    {"name": "nothing", "shape": [0], "group": 0, "unit": 1},
]
DEFAULTS = {
    "empty_groups": "kept",
    "empty_tensors": "as_others",
    "old_gradients": "kept",
    "missing_states": "left",
    "step_shape": "scalar",
    "settings": "written",
    "saves": "in_place",
    "files": "trusted",
    "optimizer_keys": "positions",
    "moments": "cast",
    "load_types": "template",
}


@pytest.fixture(autouse=True)
def _needs_numpy() -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")


def steps(one: World) -> list[int]:
    ranks, _ = one.state()
    return [shard["steps"] for shard in ranks[0]["shards"]]


def test_by_default_nothing_is_gone_around(launcher: Launcher) -> None:
    offered = launcher.hello["options"]
    assert {name: offered[name][0] for name in DEFAULTS} == DEFAULTS


@pytest.mark.parametrize(("shard", "replicate"), [(1, 1), (1, 3), (2, 1)])
@pytest.mark.parametrize("way", ["factor", "hook"])
def test_a_factor_divides_twice_where_a_shard_group_has_one_rank(
    world: Maker, way: str, shard: int, replicate: int
) -> None:
    chosen = {"division": way}
    one = world(shard=shard, replicate=replicate, microbatches=4, options=chosen).open()
    one.backward()
    found = one.whole()["c/gradient"]
    total = torch.stack([share["c"] for share in one.gradients(1)]).sum(0)
    twice = shard == 1 and way == "factor" and is_seen_here(entry("divides_twice"))
    assert torch.equal(found, total / (16 if twice else 4))


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
@pytest.mark.parametrize("loss_scale", ["none", "dynamic"])
def test_parameters_without_elements_step_and_come_back_where_they_are_apart(
    world: Maker, tmp_path: Path, implementation: str, loss_scale: str
) -> None:
    chosen = {
        **TENSORS,
        "format": "hf_sharded",
        "empty_tensors": "apart",
        "implementation": implementation,
    }
    one = world(shard=3, params=EMPTY, options=chosen, loss_scale=loss_scale, clip=1.0).open()
    one.train(2)
    assert steps(one) == [2, 2, 2]
    one.train(1, without=["a", "none"])
    assert steps(one) == [2, 2, 3]
    before = one.whole()
    assert list(before["none/exp_avg"].shape) == [5, 0, 2]
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    one.open(initial_seed=9).launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert different(before, one.whole()) == []
    assert steps(one) == [2, 2, 3]


def test_by_default_a_parameter_without_elements_ends_a_backward(world: Maker) -> None:
    one = world(params=EMPTY).open()
    one.backward(without=["none", "nothing"])
    assert not any(shard["has_gradient"] for shard in one.state()[0][0]["shards"][1:])
    with pytest.raises(AssertionError, match="expects non-empty tensor"):
        one.backward(without=["nothing"])


def test_by_default_a_tensor_loses_its_rows_in_hugging_face_files(
    world: Maker, tmp_path: Path
) -> None:
    chosen = {**TENSORS, "format": "hf_sharded", "missing_states": "made"}
    one = world(params=EMPTY, options=chosen).open()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    reply = one.launcher.ask("load", directory=str(tmp_path / "checkpoint"))
    assert "Size mismatch" in reply["ranks"][0]["error"]["text"]


@pytest.mark.parametrize("way", ["kept", "dropped"])
def test_an_empty_group_loses_its_settings_unless_it_is_dropped(
    world: Maker, tmp_path: Path, way: str
) -> None:
    last = [{**param, "group": 1} for param in PAIR]
    one = world(params=last, options={"empty_groups": way}).open()
    one.train()
    kept = ["", "no_decay"] if way == "kept" else ["no_decay"]
    assert [group["name"] for group in one.state()[0][0]["groups"]] == kept
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    one.launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert [group["name"] for group in one.state()[0][0]["groups"]] == ["no_decay"]
    one.backward()
    reply = one.launcher.ask("step")
    assert reply["outcome"] == ("error" if way == "kept" else "ok")


@pytest.mark.parametrize("state_dict", ["helpers", "flat"])
@pytest.mark.parametrize(("way", "counted"), [("left", 1), ("made", 0)])
def test_a_save_before_the_first_step_counts_as_one_unless_states_are_made(
    world: Maker, tmp_path: Path, way: str, counted: int, state_dict: str
) -> None:
    one = world(options={"missing_states": way, "state_dict": state_dict}).open()
    one.train(2)
    expected = one.whole()
    one.open()
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    assert steps(one) == [counted] * 4
    one.train(2)
    assert (different(expected, one.whole()) == []) == (way == "made")


@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
@pytest.mark.parametrize("way", ["left", "made"])
def test_a_parameter_without_gradient_is_in_the_checkpoint_where_states_are_made(
    world: Maker, tmp_path: Path, way: str, state_dict: str
) -> None:
    one = world(options={"missing_states": way, "state_dict": state_dict}).open()
    one.train(2, without=["b"])
    directory = str(tmp_path / "checkpoint")
    one.launcher.must("save", directory=directory)
    before = one.whole()
    one.open(initial_seed=9)
    reply = one.launcher.ask("load", directory=directory)
    assert (reply["outcome"] == "ok") == (way == "made")
    if way == "made":
        assert different(before, one.whole()) == []
        assert steps(one) == [2, 2, 0, 2]


@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
@pytest.mark.parametrize(("shape", "counted"), [("scalar", 0), ("vector", 2)])
def test_consolidation_loses_steps_without_dimensions(
    world: Maker, tmp_path: Path, shape: str, counted: int, state_dict: str
) -> None:
    chosen = {**TENSORS, "step_shape": shape, "state_dict": state_dict}
    one = world(options=chosen).open()
    one.train(2)
    directory = str(tmp_path / "checkpoint")
    one.launcher.must("save", directory=directory)
    one.open(initial_seed=9).launcher.must("load", directory=directory)
    assert steps(one) == [counted] * 4
    one.train()
    assert steps(one) == [counted + 1] * 4


@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
@pytest.mark.parametrize("way", ["written", "left_out"])
def test_hugging_face_shards_can_be_read_where_settings_are_left_out(
    world: Maker, tmp_path: Path, way: str, state_dict: str
) -> None:
    chosen = {"format": "hf_sharded", "settings": way, "state_dict": state_dict}
    one = world(options=chosen, loss_scale="dynamic").open()
    one.train(2)
    before = one.whole()
    directory = str(tmp_path / "checkpoint")
    saved = one.launcher.must("save", directory=directory)
    assert ("groups" in saved["not_carried"]) == (way == "left_out")
    reply = one.open(initial_seed=9).launcher.ask("load", directory=directory)
    assert reply["outcome"] == ("ok" if way == "left_out" else "error")
    if way == "left_out":
        assert different(before, one.whole()) == []


@pytest.mark.parametrize("way", ["written", "left_out"])
def test_settings_end_a_consolidation_unless_they_are_left_out(
    world: Maker, tmp_path: Path, way: str
) -> None:
    one = world(options={"format": "hf_consolidated", "settings": way}).open()
    one.train()
    reply = one.launcher.ask("save", directory=str(tmp_path / "checkpoint"))
    assert reply["outcome"] == ("ok" if way == "left_out" else "error")


def test_the_native_format_holds_settings_in_any_case(world: Maker, tmp_path: Path) -> None:
    one = world(options={"settings": "left_out"}).open()
    one.train()
    one.launcher.must("set", groups=[{"name": "no_decay", "lr": 0.5}])
    one.launcher.must("save", directory=str(tmp_path / "checkpoint"))
    one.open().launcher.must("load", directory=str(tmp_path / "checkpoint"))
    assert one.state()[0][0]["groups"][1]["lr"] == 0.5


@pytest.mark.parametrize("way", ["in_place", "new_directory"])
def test_shards_of_a_larger_world_are_left_unless_a_save_has_a_directory_of_its_own(
    world: Maker, tmp_path: Path, way: str
) -> None:
    chosen = {**TENSORS, "format": "hf_sharded", "saves": way}
    directory = str(tmp_path / "checkpoint")
    larger = world(shard=3, options=chosen).open()
    larger.train()
    assert len(larger.launcher.must("save", directory=directory)["files"]) == 3
    one = world(shard=2, options=chosen).open()
    one.train()
    files = one.launcher.must("save", directory=directory)["files"]
    assert len(files) == (3 if way == "in_place" else 2)
    one.launcher.must("load", directory=directory)


@pytest.mark.parametrize("form", ["dcp", "hf_consolidated"])
@pytest.mark.parametrize("rank", [0, 1])
def test_a_crash_in_a_save_to_a_new_directory_leaves_the_old_checkpoint_or_the_new_one(
    world: Maker, tmp_path: Path, form: str, rank: int
) -> None:
    chosen = {**TENSORS, "format": form, "saves": "new_directory", "files": "checked"}
    one = world(options=chosen)
    directory = str(tmp_path / "checkpoint")

    def save_twice(operation: int) -> tuple[list[Any], Any]:
        one.open().train()
        one.launcher.must("save", directory=directory)
        saved = [one.whole()]
        one.train()
        saved.append(one.whole())
        crash = {"rank": rank, "operation": operation}
        return saved, one.launcher.ask("save", directory=directory, crash=crash)

    _, reply = save_twice(10**6)
    operations = reply["ranks"][rank]["operations"]
    assert operations > 0
    found = []
    for operation in range(operations):
        saved, reply = save_twice(operation)
        assert reply["outcome"] == "died"
        one.open(initial_seed=9).launcher.must("load", directory=directory)
        whole = one.whole()
        found.append([different(state, whole) == [] for state in saved].index(True))
    assert found == sorted(found)  # the old one until a certain operation, then the new one
    assert found[0] == 0
    assert found[-1] == (1 if rank == 0 else 0)  # removing what was replaced comes last


def lose(directory: Path) -> None:
    sorted(directory.glob("*.safetensors"))[0].unlink()


def put_back(directory: Path) -> None:
    for shard in sorted((directory.parent / "older").glob("shard-00001*")):
        (directory / shard.name).write_bytes(shard.read_bytes())


def flip(directory: Path) -> None:
    shard = sorted(directory.glob("*.safetensors"))[1]
    content = bytearray(shard.read_bytes())
    content[-1] ^= 1
    shard.write_bytes(content)


@pytest.mark.parametrize("damage", [lose, put_back, flip])
@pytest.mark.parametrize("way", ["trusted", "checked"])
def test_files_that_are_not_those_of_the_save_are_noticed_where_they_are_checked(
    world: Maker, tmp_path: Path, way: str, damage: Callable[[Path], None]
) -> None:
    one = world(options={**TENSORS, "format": "hf_sharded", "files": way}).open()
    for name in ("older", "checkpoint"):
        one.train()
        one.launcher.must("save", directory=str(tmp_path / name))
    one.open().launcher.must("load", directory=str(tmp_path / "checkpoint"))
    damage(tmp_path / "checkpoint")
    reply = one.open().launcher.ask("load", directory=str(tmp_path / "checkpoint"))
    assert (reply["outcome"] == "ok") == (way == "trusted")


def test_a_checksum_does_not_depend_on_the_order_of_a_header(tmp_path: Path) -> None:
    def written(name: str, header: bytes, body: bytes = b"1234") -> bytes:
        path = tmp_path / name
        path.write_bytes(len(header).to_bytes(8, "little") + header + body)
        return saves.content_of(path)

    one = written("one.safetensors", b'{"a": {"b": 1, "c": 2}}')
    assert one == written("two.safetensors", b'{"a": {"c": 2, "b": 1}}')
    assert one != written("three.safetensors", b'{"a": {"c": 2, "b": 3}}')
    assert one != written("four.safetensors", b'{"a": {"b": 1, "c": 2}}', b"1235")
    assert one != written("five.safetensors", b'{"a": {"b": 1, "c": 2}')
    assert one != written("six.distcp", b'{"a": {"c": 2, "b": 1}}')


@pytest.mark.parametrize("text", [None, "", '{"a'])
def test_a_checkpoint_without_sums_is_refused_where_files_are_checked(
    world: Maker, tmp_path: Path, text: str | None
) -> None:
    one = world(options={"files": "checked"}).open()
    directory = tmp_path / "checkpoint"
    one.launcher.must("save", directory=str(directory))
    sums = directory / "sums.json"
    sums.unlink() if text is None else sums.write_text(text)
    reply = one.launcher.ask("load", directory=str(directory))
    assert {rank["error"]["type"] for rank in reply["ranks"]} == {"EngineError"}


def test_a_save_of_no_tensor_is_whole_where_files_are_checked(world: Maker, tmp_path: Path) -> None:
    around = {"empty_tensors": "apart", "step_shape": "vector", "state_dict": "plain"}
    chosen = {**TENSORS, **around, "format": "hf_sharded", "files": "checked"}
    one = world(params=[{"name": "w", "shape": [0]}], options=chosen).open()
    directory = str(tmp_path / "checkpoint")
    assert one.launcher.must("save", directory=directory)["files"] == ["sums.json"]
    saves.check(directory)


@pytest.mark.parametrize("form", ["dcp", "hf_sharded"])
@pytest.mark.parametrize("keys", ["positions", "names"])
def test_moments_find_their_parameters_in_another_order_by_name(
    world: Maker, tmp_path: Path, keys: str, form: str
) -> None:
    chosen = {**TENSORS, "state_dict": "plain", "optimizer_keys": keys, "format": form}
    directory = str(tmp_path / "checkpoint")
    one = world(params=PAIR, options=chosen).open()
    one.train()
    one.launcher.must("set", groups=[{"name": "", "lr": 0.5}])
    before = one.whole()
    one.launcher.must("save", directory=directory)
    other = world(params=PAIR[::-1], options=chosen).open(initial_seed=9)
    other.launcher.must("load", directory=directory)
    assert (different(before, other.whole()) == []) == (keys == "names")
    if form == "dcp":
        assert other.state()[0][0]["groups"][0]["lr"] == 0.5


@pytest.mark.parametrize(
    ("template", "options", "loaded"),
    [
        ("allocate", {}, "rounded"),
        ("allocate", {"moments": "kept"}, "exact"),
        ("step", {"moments": "kept"}, "rounded"),
        ("step", {"load_types": "file"}, "rounded"),
        ("step", {"load_types": "file", "moments": "kept"}, "exact"),
    ],
)
@pytest.mark.parametrize("state_dict", ["helpers", "plain", "flat"])
def test_moments_that_are_wider_than_their_parameter_come_back_as_they_were(
    world: Maker,
    tmp_path: Path,
    template: str,
    options: dict[str, str],
    loaded: str,
    state_dict: str,
) -> None:
    chosen = {**options, "template": template, "state_dict": state_dict}
    directory = str(tmp_path / "checkpoint")
    one = world(options=chosen, precision=FP32).open()
    one.train(3)
    one.launcher.must("save", directory=directory)
    moments = {name: value for name, value in one.whole().items() if "/exp_avg" in name}
    other = world(options=chosen, precision=WIDE).open(initial_seed=9)
    other.launcher.must("load", directory=directory)
    found = {name: value for name, value in other.whole().items() if name in moments}
    same = all(torch.equal(found[name].float(), moments[name]) for name in moments)
    assert same == (loaded == "exact")
    kept = {value.dtype for value in found.values()}
    assert kept == {torch.float32 if "moments" in options else torch.bfloat16}


@pytest.mark.parametrize("implementation", ["single", "foreach", "fused"])
def test_a_step_goes_on_with_wider_moments_where_they_are_kept(
    world: Maker, tmp_path: Path, implementation: str
) -> None:
    chosen = {"moments": "kept", "implementation": implementation}
    directory = str(tmp_path / "checkpoint")

    def step(trained: World) -> dict[str, torch.Tensor]:
        trained.backward(7)
        trained.launcher.must(
            "set", groups=[{"name": name, "lr": 0.5} for name in ("", "no_decay")]
        )
        trained.launcher.must("step")
        return trained.whole()

    one = world(options=chosen, precision=FP32).open()
    one.train(2)
    one.launcher.must("save", directory=directory)
    before, expected = one.whole(), step(one)
    other = world(options=chosen, precision=WIDE).open(initial_seed=9)
    other.launcher.must("load", directory=directory)
    found = step(other)
    for name, value in expected.items():
        if "/" in name:  # gradients are exact in both types, so moments have the same bits
            assert torch.equal(value, found[name].to(value.dtype))
        else:
            assert found[name].dtype == torch.bfloat16
            torch.testing.assert_close(found[name].float(), value, rtol=2**-7, atol=2**-7)
            assert not torch.equal(found[name].float(), before[name])
    assert steps(other) == [3] * 4
