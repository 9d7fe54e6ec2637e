"""Requests that cannot be understood or come out of order: an error, and the engine goes on."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from adamant_torch import Engine, hello
from adamant_torch.protocol import failure
from tests.known import LOOKED_AT, RELEASE, number
from tests.peer import FP32, Launcher, World

OLDER: dict[str, tuple[str, ...]] = {"torch": ("0.1",), "no-such-distribution": ("1",)}


def test_every_format_is_offered_where_its_packages_are() -> None:
    pytest.importorskip("safetensors", reason="the Hugging Face formats need safetensors")
    wanted = ["dcp", "hf_sharded", "hf_consolidated"]
    assert hello.formats() == (wanted if number(RELEASE) >= (2, 9) else ["dcp"])


def test_hello_names_versions_capabilities_and_options(launcher: Launcher) -> None:
    hello = launcher.hello
    assert hello["outcome"] == "ok"
    assert hello["version"] == 1
    assert set(hello["versions"]) == {"torch", "python", "instruction_set"}
    assert hello["arithmetic"] in ("torch", "interval")
    assert hello["capabilities"]["ranks_max"] == 8
    assert hello["options"]["implementation"][0] == "single"
    assert hello["options"]["offload_policy"] == ["none", "cpu"]
    assert Path(hello["known"]).is_absolute()
    assert Path(hello["known"]).read_text(encoding="utf-8").count("\nknown:\n") == 1


class Older(Engine):
    """Was tried with a release that is long gone."""

    tried = OLDER


def test_hello_names_releases_that_were_not_tried() -> None:
    assert hello.untried(Engine) == [] or RELEASE not in LOOKED_AT
    (note,) = hello.untried(Older)
    assert note == (
        f"torch {RELEASE} was not tried with this adapter, which may be what fails; tried: 0.1"
    )
    assert hello.releases(Older) == {"torch": RELEASE}


def test_what_an_adapter_asks_for_in_vain_is_no_error_of_the_engine() -> None:
    with pytest.raises(AttributeError) as own:
        hello.releases(int)  # type: ignore[arg-type]
    assert failure(own.value)["error"]["type"] == "adapter"
    assert failure(own.value)["error"]["text"].startswith("AttributeError: ")
    with pytest.raises(AttributeError) as other:
        getattr(0, "tried")  # noqa: B009  (asked for here)
    assert failure(other.value)["error"]["type"] == "AttributeError"
    with pytest.raises(ZeroDivisionError) as engine:
        hello.precision(1 / 0, [], "", "")  # type: ignore[arg-type]
    told = failure(engine.value)["error"]
    assert told["type"] == "ZeroDivisionError"
    assert told["kind"] == "builtins.ZeroDivisionError"
    assert told["where"].startswith(f"{__file__}:")
    assert told["traceback"].splitlines()[-1] == "ZeroDivisionError: division by zero"
    assert f'File "{__file__}"' in told["traceback"]


@pytest.mark.parametrize(
    ("asks", "kind"),
    [
        ("with mock.patch.object(math, 'gone'): pass", "adapter"),
        ("math.floor(1.0, gone=2)", "adapter"),
        ("import adamant_torch.gone", "adapter"),
        ("math.floor('1')", "TypeError"),
        ("textwrap.dedent(1)", "TypeError"),
    ],
)
def test_it_may_ask_by_way_of_python_and_for_another_signature(asks: str, kind: str) -> None:
    adapter = {"__name__": "adamant_x", "mock": mock, "math": math, "textwrap": textwrap}
    with pytest.raises((AttributeError, ImportError, TypeError)) as asked:
        exec(asks, adapter)
    assert failure(asked.value)["error"]["type"] == kind


def test_a_load_into_a_new_job_gets_new_processes(launcher: Launcher, tmp_path: Path) -> None:
    assert launcher.hello["asks"] == ["anew"]
    world = World(launcher, tmp_path).open()
    first = set(launcher.ranks())
    world.open()
    assert set(launcher.ranks()) == first
    launcher.must("open", **world.request(), anew=True)
    assert first.isdisjoint(launcher.ranks())


def test_another_version_is_refused(launcher: Launcher) -> None:
    reply = launcher.ask("hello", version=2)
    assert reply["error"]["type"] == "protocol"
    assert "version 2" in reply["error"]["text"]


@pytest.mark.parametrize(
    "request_name", ["backward", "clip", "step", "zero_grad", "set", "state", "save", "load"]
)
def test_nothing_happens_without_a_world(launcher: Launcher, request_name: str) -> None:
    launcher.must("close")
    reply = launcher.ask(request_name)
    assert reply["outcome"] == "error"
    assert reply["error"]["type"] == "protocol"
    assert "open comes first" in reply["error"]["text"]
    assert reply["id"] == launcher.id


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"{", "one JSON object a line"),
        (b"[]", "found list"),
        (b'{"id": 3}', "request is missing"),
        (b'{"id": 3, "request": "fly"}', "unknown request 'fly'"),
        (b'{"id": 3, "request": 7}', "request is 7"),
    ],
)
def test_a_line_that_is_no_request_is_answered(launcher: Launcher, line: bytes, text: str) -> None:
    reply = launcher.say_line(line)
    assert reply["outcome"] == "error"
    assert reply["error"]["type"] == "protocol"
    assert text in reply["error"]["text"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"world": {"shard": 0, "replicate": 1}}, "shard is 0"),
        ({"world": {"replicate": 1}}, "shard is missing"),
        ({"microbatches": "two"}, "microbatches is 'two'"),
        ({"params": [{"name": "a"}]}, "shape is missing"),
        ({"groups": []}, "there is no group 0"),
        ({"precision": {"param": "fp32"}}, "grad is missing"),
        ({"initial": None}, "initial is None"),
    ],
)
def test_an_open_that_lacks_something_names_it(
    world: Callable[..., World], change: dict[str, Any], text: str
) -> None:
    one = world()
    reply = one.launcher.ask("open", **{**one.request(), **change})
    assert reply["outcome"] == "error"
    assert reply["error"]["type"] == "protocol"
    assert text in reply["error"]["text"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"world": {"shard": 9, "replicate": 1}}, "9 ranks; this engine has at most 8"),
        ({"world": {"shard": 1, "replicate": 5}}, "5 replicas"),
        ({"optimizer": {"mode": "lion"}}, "optimizer lion"),
        ({"precision": {**FP32, "main": "fp16"}}, "no recipe of this engine has"),
        (
            {
                "precision": {**FP32, "param": "fp16", "grad": "fp16"},
                "optimizer": {"mode": "adam", "loss_scale": "dynamic"},
            },
            "loss scale dynamic",
        ),
        ({"options": {"implementation": "fast"}}, "option implementation: fast; known: ['single'"),
        ({"options": {"speed": "fast"}}, "option speed: fast; known: ['accumulation'"),
    ],
)
def test_an_open_that_goes_beyond_what_hello_offers_is_refused_by_name(
    world: Callable[..., World], change: dict[str, Any], text: str
) -> None:
    one = world()
    reply = one.launcher.ask("open", **{**one.request(), **change})
    assert reply["outcome"] == "error"
    assert reply["error"]["type"] == "EngineError"
    assert text in reply["error"]["text"]


def test_a_request_in_a_world_is_checked_before_any_rank_sees_it(
    world: Callable[..., World],
) -> None:
    one = world().open()
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("backward", {"gradients": ["/x"]}, "1 files of gradients for 2 ranks"),
        ("backward", {}, "gradients is missing"),
        ("backward", {"gradients": ["/x", "/y"], "overflow": {}}, "rank is missing"),
        ("state", {}, "prefix is missing"),
        ("set", {"groups": [{"lr": 1.0}]}, "name is missing"),
        ("set", {"clip": "much"}, "clip is 'much'"),
        ("save", {}, "directory is missing"),
    ]
    for request, fields, text in wrong:
        reply = one.launcher.ask(request, **fields)
        assert reply["outcome"] == "error"
        assert text in reply["error"]["text"], reply
    one.train()  # the world is whole


def test_a_rank_that_cannot_read_its_file_ends_the_world_and_not_the_engine(
    world: Callable[..., World],
) -> None:
    one = world().open()
    reply = one.launcher.ask("backward", gradients=["/nowhere/0", "/nowhere/1"])
    assert reply["outcome"] == "error"
    for rank in reply["ranks"]:
        assert rank["error"]["type"] == "FileNotFoundError"
        assert "/nowhere/" in rank["error"]["text"]
    assert "open comes first" in one.launcher.ask("step")["error"]["text"]
    one.open().train()
