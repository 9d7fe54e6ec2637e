"""Scripts that import torch alone: what they hold, and that they come to what the adapter does."""

from __future__ import annotations

import copy
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adamant_torch import hello, model, script
from adamant_torch.protocol import Message
from adamant_torch.script.layout import COLUMNS_MAX
from tests.sessions import STATE, of_value, opened, run, session

OPTIONS = {name: values[0] for name, values in hello.options().items()}
MATRIX: Message = {"shape": [3, 2], "values": [0.5, -1.25, 2.0, 0.125, -0.75, 3.0]}
VECTOR = {"shape": [2], "values": [1.5, -0.25]}
FILES = {
    "initial-0": {"h.w": MATRIX, "h.b": VECTOR, "v": VECTOR},
    "gradients-0": {"h.w": MATRIX, "h.b": VECTOR, "v": VECTOR},
    "gradients-1": {"h.w": {**MATRIX, "values": MATRIX["values"][::-1]}, "h.b": VECTOR},
}
FILES["gradients-1"]["v"] = {**VECTOR, "values": [-3.0, 0.5]}


def world(shard: int = 2, replicate: int = 1, **changed: Any) -> Message:
    """Return an `open` of three parameters in two units and two groups."""
    first = opened()["fields"]
    params = [
        {"name": "h.w", "shape": [3, 2], "group": 0, "unit": 0},
        {"name": "h.b", "shape": [2], "group": 1, "unit": 0},
        {"name": "v", "shape": [2], "group": 0, "unit": 1},
    ]
    group = {**first["groups"][0], "name": "g", "lr": 0.25}
    options = OPTIONS | changed.pop("options", {})
    fields = {
        "world": {"shard": shard, "replicate": replicate},
        "microbatches": changed.pop("microbatches", shard * replicate),
        "params": params,
        "groups": [*first["groups"], group],
        "optimizer": first["optimizer"] | changed.pop("optimizer", {}),
        "precision": first["precision"] | changed.pop("precision", {}),
    }
    return opened(options=options, **fields, **changed)


def iteration(ranks: int, *verbs: str, **fields: Any) -> list[Message]:
    """Return a backward in which ranks have different gradients, and what follows."""
    files = [f"$HERE/gradients-{rank % 2}" for rank in range(ranks)]
    backward = {"gradients": files, "without": [], "loss_scale": 1.0, **fields}
    return [
        {"request": "backward", "fields": backward},
        *({"request": verb, "fields": {}} for verb in verbs),
    ]


def at(name: str, directory: str = "a") -> Message:
    return {"request": name, "fields": {"directory": f"$RUN/{directory}"}}


def shown(requests: list[Message], look: Message) -> Message:
    """Return a session that looks at something at the end, which cannot be what is expected."""
    side = {"after": len(requests) + 1, "rank": 0, **look}
    found = session([*requests, STATE], expected="0x1.8p+100", sides={"actual": side}, number=True)
    return found | {"files": FILES, "options": hello.options()}


MOMENT = {"look": "number", "of": "local/h.w/exp_avg", "index": 1}
WEIGHT = {"look": "number", "of": "local/v", "index": 0}
TENSORS = {"format": "hf_sharded", "settings": "left_out", "template": "step"}
PLAIN = {"state_dict": "plain"}
BF16 = {"param": "bf16", "grad": "bf16", "main": "fp32"}
OVERFLOW = {"rank": 1, "name": "v", "index": 1, "value": "inf"}
TRAIN = iteration(2, "step", "zero_grad")
PROGRAMS = {
    "groups": shown([world(), *TRAIN, *TRAIN], WEIGHT),
    "replicas": shown([world(1, 2), *iteration(2, "step")], MOMENT),
    "microbatches": shown([world(microbatches=3), *iteration(2, "step")], MOMENT),
    "precision": shown([world(precision=BF16), *TRAIN], {**WEIGHT, "of": "local/v/main"}),
    "scaler": shown(
        [
            world(optimizer={"loss_scale": 1024.0, "clip": 0.5}),
            *iteration(2, "clip", "step", "zero_grad"),
            *iteration(2, "step", "zero_grad", overflow=OVERFLOW),
            *iteration(2, "clip", "step"),
        ],
        MOMENT,
    ),
    "without": shown(
        [
            world(options={"without": "frozen", "wrapping": "nested"}),
            *iteration(2, "step", "zero_grad", without=["h.b"]),
            *TRAIN,
        ],
        {**WEIGHT, "of": "local/h.b"},
    ),
    "passes": shown(
        [world(options={"accumulation": "unsharded", "optimizers": "per_group"}), *TRAIN],
        {**MOMENT, "of": "local/h.b/exp_avg", "index": 0},
    ),
    "load": shown([world(), *TRAIN, at("save"), world(1), at("load"), *iteration(1)], MOMENT),
    "safetensors": shown(
        [world(options=TENSORS), *TRAIN, at("save"), *TRAIN, at("load"), *TRAIN], MOMENT
    ),
    "plain states": shown(
        [world(options=PLAIN), *TRAIN, at("save"), world(1, options=PLAIN), at("load")],
        {"look": "steps", "of": "v"},
    ),
}


def written(found: Message, folder: Path) -> str:
    """Return a session's script, which is a plain one."""
    return script.plain(found, folder / "x.py")


def actual(ended: subprocess.CompletedProcess[str]) -> str:
    """Return what a script found."""
    assert ended.returncode == 1, ended.stdout + ended.stderr
    return ended.stdout.splitlines()[-1].partition("actual")[2]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_script_comes_to_what_the_adapter_comes_to(name: str, tmp_path: Path) -> None:
    found = PROGRAMS[name]
    text = written(found, tmp_path)
    assert "import adamant" not in text
    plain = actual(run(text, tmp_path))
    assert plain == actual(run(script.driven(found, tmp_path / "x.py"), tmp_path))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_formatter_and_a_linter_have_nothing_to_say(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(written(PROGRAMS[name], tmp_path))
    ruff = [sys.executable, "-m", "ruff"]
    usual = [f"--config=line-length={COLUMNS_MAX}", "--isolated", "x.py"]
    for command in (["format", "--check", "--diff"], ["check", "--select=E5,F,W"]):
        ended = subprocess.run(
            [*ruff, *command, *usual], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        if "No module named ruff" in ended.stderr:
            pytest.skip("ruff is not installed here")
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_it_holds_the_functions_that_the_adapter_runs() -> None:
    text = script.plain(PROGRAMS["groups"], None)
    for function in (model.shard_units, model.Unit.forward):
        assert "".join(inspect.getsource(function).partition(":\n")[2]) in text
    assert "class Nested" not in text


def test_without_pytorch_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(script.plain(of_plain_value(), None))
    bare = subprocess.run(
        [sys.executable, "-S", "x.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert bare.returncode == 2
    assert bare.stdout == "ModuleNotFoundError: No module named 'torch'\n"


def of_plain_value(expected: Any = "0x1.0p+0") -> Message:
    """Return a session of one step, after which w[0] is 0.5."""
    found = of_value(expected)
    found["requests"][1]["fields"]["options"] = OPTIONS
    return found | {"options": hello.options()}


def test_it_ends_with_what_it_found(tmp_path: Path) -> None:
    text = script.plain(of_plain_value(), None)
    assert run(text, tmp_path).returncode == 1
    right = {"low": "0x1.fffp-2", "high": "0x1.001p-1", "or": []}
    assert run(script.plain(of_plain_value(right), None), tmp_path).returncode == 0
    wrong = run(text.replace("optimizer.step()", "optimizer.no_step()"), tmp_path)
    assert wrong.returncode == 2
    assert "no_step" in wrong.stdout + wrong.stderr


def of_load(**like: Any) -> Message:
    """Return a session whose load finds no checkpoint."""
    found = session(
        [world(1), at("load")],
        **{"kind": "failure", "place": "load", "expected": "no failure", "like": like},
    )
    found["requests"][-1]["outcomes"] = ["error"]
    return found | {"files": FILES, "options": hello.options()}


@pytest.mark.parametrize(
    ("like", "status"),
    [
        ({"outcome": "error", "type": "CheckpointException", "cause": "AssertionError"}, 1),
        ({"outcome": "error", "type": "CheckpointException", "cause": "EOFError"}, 2),
        ({"outcome": "error", "type": "KeyError"}, 2),
    ],
)
def test_a_failure_shows_where_it_is_the_same(like: Message, status: int, tmp_path: Path) -> None:
    ended = run(script.plain(of_load(**like), None), tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    _, seen, cause = ended.stdout.splitlines()  # and no traceback
    assert seen.startswith("load: actual   CheckpointException: ")
    assert cause.startswith("  AssertionError")


def test_an_error_is_no_death(tmp_path: Path) -> None:
    ended = run(script.plain(of_load(outcome="died", signal=11), None), tmp_path)
    assert ended.returncode == 2, ended.stdout + ended.stderr
    assert ended.stdout.splitlines()[1].startswith("load: actual   they end with [1")


def test_files_are_damaged_where_nobody_uses_them(tmp_path: Path) -> None:
    damage = [
        {"then": "flip_byte", "file": "$RUN/a/x", "at": 3},
        {"then": "truncate", "file": "$RUN/a/x", "at": 2},
        {"then": "remove_file", "file": "$RUN/a/y"},
        {"then": "stale_file", "file": "$RUN/a/y", "older": "$RUN/older-a/y"},
    ]
    save = {**at("save"), "keep": ["$RUN/a", "$RUN/older-a"]}
    two = {"world": {"shard": 2, "replicate": 1}, "microbatches": 2}
    requests = [opened(options=OPTIONS, **two), save, {**at("load"), "damage": damage}]
    found = session(requests, kind="no_failure", place="load", expected="an error")
    text = script.plain(found | {"options": hello.options()}, tmp_path / "x.py")
    for line in (
        'shutil.copytree(f"{folder}/a", f"{folder}/older-a")',
        'flip(f"{folder}/a/x", 3)',
        'os.truncate(f"{folder}/a/x", 2)',
        'os.remove(f"{folder}/a/y")',
        'shutil.copy(f"{folder}/older-a/y", f"{folder}/a/y")',
    ):
        assert f"        {line}\n" in text
    assert text.count("    dist.barrier()\n") == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"saves": "new_directory"}, "a way around a known defect"),
        ({"optimizers": "per_group", "state_dict": "plain"}, "have no state dict of their own"),
    ],
)
def test_of_what_it_cannot_say_there_is_the_other_kind(change: Message, why: str) -> None:
    found = copy.deepcopy(PROGRAMS["load"])
    for request in found["requests"]:
        if request["request"] == "open":
            request["fields"]["options"] |= change
    with pytest.raises(SystemExit, match=why):
        script.plain(found, None)
    kind, text = script.written(found, None)
    assert kind == script.DRIVEN
    assert "driver.load(" in text
