"""Scripts that drive an engine's class: what they say, that they run, and what is no script."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adamant_torch import script
from adamant_torch.protocol import Message
from adamant_torch.script.layout import COLUMNS_MAX, called, laid
from adamant_torch.script.numbers import Values
from tests.sessions import STATE, of_value, opened, run, session, trained


def of_failure(**like: Any) -> Message:
    """Return a session whose load finds no checkpoint."""
    load = {"request": "load", "fields": {"directory": "$RUN/a"}}
    return session([opened(), load], kind="failure", place="load", expected="no failure", like=like)


def of_damage() -> Message:
    """Return a session of all that is done to files."""
    save = {"request": "save", "fields": {"directory": "$RUN/a"}}
    damage = [
        {"then": "flip_byte", "file": "$RUN/a/x", "at": 3},
        {"then": "truncate", "file": "$RUN/a/x", "at": 2},
        {"then": "remove_file", "file": "$RUN/a/y"},
        {"then": "stale_file", "file": "$RUN/a/y", "older": "$RUN/older-a/y"},
    ]
    load = {"request": "load", "damage": damage, "fields": {"directory": "$RUN/a"}}
    return session(
        [opened(), {**save, "keep": ["$RUN/a", "$RUN/older-a"]}, load],
        **{"kind": "no_failure", "place": "load", "expected": "an error"},
    )


def of_crash() -> Message:
    """Return a session of two saves, the second of which a crash ends."""
    save = {"request": "save", "fields": {"directory": "$RUN/a"}}
    struck = {"directory": "$RUN/a", "crash": {"rank": 0, "operation": 0}}
    crash = {"request": "save", "fields": struck, "outcomes": ["ok", "died"]}
    load = {"request": "load", "fields": {"directory": "$RUN/a"}}
    looks = {"look": "restored", "parts": ["", "/exp_avg", "/exp_avg_sq"]}
    sides = {name: {"after": at, **looks} for name, at in {"older": 3, "newer": 7}.items()}
    return session(
        [opened(), save, STATE, *trained("gradients-1"), crash, opened(), load, STATE, STATE],
        **{"kind": "either", "place": "", "sides": sides | {"actual": {"after": 12, **looks}}},
    )


def of_runs() -> Message:
    """Return a session of two runs, the second on two ranks."""
    look = {"rank": 0, "look": "number", "of": "local/w", "index": 0, "may_be_missing": True}
    sides = {"expected": {"after": 5, **look}, "actual": {"after": 10, **look}}
    world = {"shard": 2, "replicate": 1}
    two = opened(world=world, microbatches=2, options={"implementation": "fused"})
    again = [*trained("gradients-0")]
    again[0] = copy.deepcopy(again[0])
    again[0]["fields"]["gradients"] *= 2
    found = session(
        [opened(), *trained("gradients-0"), two, *again], kind="runs", number=True, sides=sides
    )
    return {**found, "second_run": "worlds: [2]"}


def text_of(found: Message) -> str:
    return script.driven(found, None)


INTERVAL = {"low": "0x1.fffp-2", "high": "0x1.001p-1", "or": ["inf"]}
SESSIONS = {
    "value": of_value("0x1.0p+0"),
    "interval": of_value(INTERVAL),
    "failure": of_failure(outcome="error", type="CheckpointException"),
    "damage": of_damage(),
    "crash": of_crash(),
    "runs": of_runs(),
}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_formatter_and_a_linter_have_nothing_to_say(name: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(text_of(SESSIONS[name]))
    ruff = [sys.executable, "-m", "ruff"]
    usual = [f"--config=line-length={COLUMNS_MAX}", "--isolated", "x.py"]
    for command in (["format", "--check", "--diff"], ["check", "--select=E5,F,W"]):
        ended = subprocess.run(
            [*ruff, *command, *usual], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        if "No module named ruff" in ended.stderr:
            pytest.skip("ruff is not installed here")
        assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_value_shows_where_it_is_wrong(tmp_path: Path) -> None:
    wrong = run(text_of(SESSIONS["value"]), tmp_path)
    assert wrong.returncode == 1, wrong.stderr
    assert wrong.stdout.startswith("w[0]: expected 0x1.0p+0 = 1.0\nw[0]: actual   0x1.00000")
    right = run(text_of(SESSIONS["interval"]), tmp_path)
    assert right.returncode == 0, right.stdout + right.stderr
    assert "expected [0x1.fff0000000000p-2, 0x1.0010000000000p-1] or inf\n" in right.stdout
    (tmp_path / "adamant_torch.py").write_text("")
    assert run(text_of(SESSIONS["value"]), tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("like", "status"),
    [
        ({"outcome": "error", "type": "CheckpointException"}, 1),
        ({"outcome": "error", "type": "KeyError"}, 2),
        ({"outcome": "error", "text": "out of paper"}, 2),
        ({"outcome": "died", "signal": 11}, 2),
    ],
)
def test_a_failure_shows_where_it_is_the_same(like: Message, status: int, tmp_path: Path) -> None:
    ended = run(text_of(of_failure(**like)), tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    _, seen = ended.stdout.splitlines()  # and no traceback
    assert seen.startswith("load: actual   CheckpointException: ")
    assert re.search(r", at /\S+\.py:\d+$", seen)


def test_a_failure_that_does_not_come_is_none(tmp_path: Path) -> None:
    found = of_failure(outcome="error")
    found["requests"].insert(2, {"request": "save", "fields": {"directory": "$RUN/a"}})
    found["shows"]["request"] += 1
    ended = run(text_of(found), tmp_path)
    assert (ended.returncode, ended.stdout.splitlines()[1]) == (0, "load: actual   no failure")


def test_files_are_damaged_as_they_were() -> None:
    text = text_of(SESSIONS["damage"])
    for line in (
        'shutil.copytree(driver.path("a"), driver.path("older-a"), dirs_exist_ok=True)',
        'flip(driver.path("a/x"), 3)',
        'os.truncate(driver.path("a/x"), 2)',
        'os.remove(driver.path("a/y"))',
        'shutil.copy(driver.path("older-a/y"), driver.path("a/y"))',
        'sys.exit(actual == "no failure" or "incompatible_checkpoint" in actual)',
    ):
        assert line in text


def test_what_only_looks_is_left_out_and_a_crash_is_an_argument(tmp_path: Path) -> None:
    text = text_of(SESSIONS["crash"])
    assert text.count("driver.state()") == 3
    assert 'driver.save("a", crash=(0, 0))' in text
    assert re.search(r"^from math import inf$", text, re.MULTILINE)
    ended = run(text, tmp_path)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_second_world_says_what_it_has_otherwise() -> None:
    text = text_of(SESSIONS["runs"])
    changed = '**OPEN | {"shard": 2, "options": {"implementation": "fused"}}'
    assert f"driver.open(INITIAL, {changed})" in text
    assert "The second run is the first one with `worlds: [2]`." in text
    assert 'actual = element(state, 0, "local/w", 0, missing=0.0).hex()' in text


def test_iterations_that_are_alike_are_a_loop() -> None:
    many = [step for _ in range(3) for step in trained("gradients-0")[:3]]
    found = session([opened(), *many, *trained("gradients-1")[:3], STATE], sides={})
    found["shows"]["sides"] = {"actual": {"after": 14, "look": "steps", "of": "w", "rank": 0}}
    found["requests"].insert(14, {"request": "step", "fields": {}})
    text = text_of(found | {"requests": [*found["requests"], STATE]})
    names = "GRADIENTS, GRADIENTS, GRADIENTS, GRADIENTS_2"
    assert f"    for gradients in ({names}):\n        driver.backward(gradients)\n" in text
    same = session([opened(), *many, STATE], expected="3", sides=found["shows"]["sides"])
    same["shows"]["sides"]["actual"]["after"] = 11
    assert "    for _ in range(3):\n        driver.backward(GRADIENTS)\n" in text_of(same)


def test_a_loop_leaves_a_parameter_its_name() -> None:
    ends = {"gradients": ["$HERE/gradients-0"], "without": ["gradients", "GRADIENTS"]}
    many = trained("gradients-0")[:3]
    many[0] = {"request": "backward", "fields": ends}
    other = copy.deepcopy(many)
    other[0]["fields"]["gradients"] = ["$HERE/gradients-1"]
    looks = {"after": 14, "look": "steps", "of": "w", "rank": 0}
    for second, head in ((many, "_ in range(4)"), (other, "gradients in (")):
        found = session([opened(), *many * 3, *second, STATE], expected="4", sides={})
        found["shows"]["sides"] = {"actual": looks}
        lines = text_of(found).splitlines()
        (at,) = (number for number, line in enumerate(lines) if f"for {head}" in line)
        given = "GRADIENTS" if second is many else "gradients"
        assert lines[at + 1].strip() == (
            f'driver.backward({given}, without=["gradients", "GRADIENTS"])'
        )


def test_a_line_too_wide_for_a_loop_is_broken_in_it() -> None:
    many = trained("gradients-0")[:3]
    name = "w" * 60  # its line has 98 columns, and in a loop 102
    many[0] = copy.deepcopy(many[0])
    many[0]["fields"]["without"] = [name]
    found = session([opened(), *many * 2, STATE], expected="2", sides={})
    found["shows"]["sides"] = {"actual": {"after": 8, "look": "steps", "of": "w", "rank": 0}}
    lines = text_of(found).splitlines()
    at = lines.index("    for _ in range(2):")
    assert lines[at + 1 : at + 4] == [
        "        driver.backward(",
        f'            GRADIENTS, without=["{name}"]',
        "        )",
    ]


def test_numbers_too_many_to_read_lie_beside(tmp_path: Path) -> None:
    many = {"w": {"shape": [300, 2], "values": [1.0] * 600}}
    found = of_value("0x1.0p+0", {"initial-0": many, "gradients-0": many})
    found["requests"][1]["fields"]["params"][0]["shape"] = [300, 2]
    with pytest.raises(SystemExit, match=f"people read {script.LINES_MAX}"):
        script.driven(found, None)
    text = script.driven(found, tmp_path / "x.py")
    assert text.count("\n") <= script.LINES_MAX
    assert (tmp_path / "x.numbers.pt").exists()
    ended = run(text, tmp_path)
    assert ended.returncode == 1, ended.stderr


@pytest.mark.parametrize(
    ("look", "told"),
    [
        ({"look": "scale", "of": "norm", "otherwise": 0}, 'single(state["ranks"][0]["scale"].get('),
        ({"look": "setting", "of": "betas", "group": "", "beta": 1}, '(state, 0, "")["betas"][1]'),
        ({"look": "gradient", "of": "w"}, '(state, 0, "w")["has_gradient"] else "no gradient"'),
        ({"look": "rows", "of": "w"}, 'actual = rows(shard(state, 0, "w"))'),
        ({"look": "dtype", "of": "local/w"}, 'header(state, 0)["local/w"]["dtype"]'),
        ({"look": "presence", "of": "local/w"}, '"local/w" in header(state, 0) else "nothing"'),
        ({"look": "files", "checkpoint": "$RUN/a", "pattern": "*"}, 'digests(driver.path("a"), '),
    ],
)
def test_all_that_is_looked_at_has_an_expression(look: Message, told: str) -> None:
    found = of_value("1")
    found["shows"]["sides"]["actual"] = {"after": 5, "rank": 0, **look}
    text = text_of(found)
    assert told in text
    compile(text, "x.py", "exec")


def test_rows_without_elements_are_rows() -> None:
    assert Values((2, 2), (1.0, 2.0, 3.0, "inf")).nested() == [[1.0, 2.0], [3.0, "inf"]]
    assert Values((2, 0), ()).nested() == [[], []]
    assert Values((0, 2), ()).nested() == "torch.zeros(0, 2)"


def changed(found: Message, **fields: Any) -> Message:
    """Return a session whose last request but one has these fields, too."""
    found = copy.deepcopy(found)
    found["requests"][-2]["fields"].update(fields)
    return found


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (session([opened(), STATE], kind="no_answer"), "the engine ends, does not answer"),
        (of_value("1") | {"adamant_session": 2}, "sessions of version 1"),
        ({k: v for k, v in of_value("1").items() if k != "engine_class"}, "no import finds"),
        (changed(of_value("1"), keep=1), "Driver.zero_grad has no argument for `keep`"),
        (session([opened(anew=True), STATE], expected="", sides={}), "argument for `anew`"),
    ],
)
def test_what_is_no_script_ends_with_a_sentence(found: Message, why: str) -> None:
    with pytest.raises(SystemExit, match=re.escape(why)):
        script.written(found, None)


def test_a_request_that_failed_before_is_no_script() -> None:
    found = of_failure(outcome="error")
    found["requests"].insert(2, {"request": "step", "fields": {}, "outcomes": ["error"]})
    found["shows"]["request"] = 3
    with pytest.raises(SystemExit, match="a request before the one that shows it fails as well"):
        text_of(found)


def test_codes_and_foreign_checkpoints_are_no_script() -> None:
    found = of_value("1")
    found["shows"]["sides"]["actual"]["look"] = "code"
    with pytest.raises(SystemExit, match="does not read from a file"):
        text_of(found)
    found = of_failure(outcome="error")
    found["requests"][-1]["fields"]["directory"] = "/elsewhere"
    with pytest.raises(SystemExit, match="it did not save"):
        text_of(found)


def test_the_command_prints_or_writes_it(tmp_path: Path) -> None:
    (tmp_path / "x.session.json").write_text(json.dumps(SESSIONS["value"]))
    command = [sys.executable, "-m", "adamant_torch", "script", "x.session.json"]
    printed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (script.PLAIN, printed.stdout) == script.written(SESSIONS["value"], None)
    said = subprocess.run(
        [*command, "-o", "x.py"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    assert said.stdout == f"{script.PLAIN}\n"
    assert (tmp_path / "x.py").read_text() == printed.stdout
    (tmp_path / "x.session.json").write_text(json.dumps(of_value("1") | {"adamant_session": 2}))
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines()[-1] == "sessions of version 1 have scripts"


def test_what_is_too_wide_breaks() -> None:
    assert laid("x = ", ["a" * 50, "b" * 50], ",") == [
        "x = [",
        f'    "{"a" * 50}",',
        f'    "{"b" * 50}",',
        "],",
    ]
    wide = [("", "a" * 44), ("b=", "b" * 44)]
    assert called("call", wide) == ["call(", f'    "{"a" * 44}", b="{"b" * 44}"', ")"]
    wider = [("", "a" * 60), ("b=", "b" * 60)]
    assert called("call", wider, 1)[1:3] == [f'        "{"a" * 60}",', f'        b="{"b" * 60}",']
