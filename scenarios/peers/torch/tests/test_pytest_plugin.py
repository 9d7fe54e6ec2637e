"""The plugin as its users have it: pytest is run on tests of theirs, with engines right and wrong.

Most are tried with the engine in NumPy (`scenarios/peers/numpy`), which starts sooner.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from pathlib import Path
from unittest.mock import ANY

import pytest

from tests.peer import ROOT

pytest_plugins = ["pytester"]

REPOSITORY = ROOT.parent.parent.parent
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"
NUMPY = f"exec:exec {sys.executable} {ROOT.parent / 'numpy'}"
WRONG = f"{NUMPY} --bug no_bias_correction"

SCENARIO = """\
adamant: 1
name: Two steps on two ranks
seed: 7
world: {shard: 2}
params: [{name: w, shape: [4, 3]}]
program: [{train: 2}]
"""

pytestmark = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="there is no program: build it, or name it by ADAMANT"
)


@pytest.fixture(autouse=True)
def program(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADAMANT", PROGRAM)
    pytester.path.joinpath("scenarios").mkdir()
    pytester.path.joinpath("scenarios", "two_steps.yaml").write_text(SCENARIO)


def write_test(pytester: pytest.Pytester, text: str, **words: str) -> None:
    for word, meaning in words.items():
        text = text.replace(word, repr(meaning))
    pytester.makepyfile(test_engine="import adamant_pytest as adamant\n\n" + text)


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess("-p", "no:randomly", *arguments)


FOLDER = '@adamant.scenarios("scenarios", engine=ENGINE)\ndef test_folder() -> None: ...\n'


def test_each_file_of_a_folder_is_a_test(pytester: pytest.Pytester) -> None:
    folder = pytester.path / "scenarios"
    (folder / "deep").mkdir()
    (folder / "deep" / "one_step.yml").write_text(SCENARIO.replace("train: 2", "train: 1"))
    (folder / "notes.yaml").write_text("title: no scenario\n")
    write_test(pytester, FOLDER, ENGINE=NUMPY)
    collected = run(pytester, "--collect-only", "-q").stdout
    collected.fnmatch_lines(["test_engine.py::test_folder[[]deep/one_step.yml]"])
    collected.fnmatch_lines(["test_engine.py::test_folder[[]two_steps.yaml]", "*2 tests*"])
    run(pytester, "-k", "two_steps").assert_outcomes(passed=1, deselected=1)


def test_in_ci_a_failure_is_told_once(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI", "true")
    write_test(pytester, FOLDER, ENGINE=WRONG)
    wrong = run(pytester, "--junit-xml", "junit.xml")
    assert [line for line in wrong.stdout.lines if line.startswith("replay: ")] == [ANY]
    wrong.stdout.fnmatch_lines(
        ["FAILED test_engine.py::test_folder[[]two_steps.yaml] - values.bitwise"]
    )
    junit = (pytester.path / "junit.xml").read_text()
    assert '<failure message="values.bitwise">FAIL ' in junit


def test_the_body_runs_after_its_scenario(pytester: pytest.Pytester) -> None:
    body = FOLDER.replace("...", "print('the body ran')")
    write_test(pytester, body, ENGINE=NUMPY)
    run(pytester, "-s").stdout.fnmatch_lines(["*the body ran*"])
    write_test(pytester, body, ENGINE=WRONG)
    wrong = run(pytester, "-s")
    wrong.assert_outcomes(failed=1)
    wrong.stdout.no_fnmatch_line("*the body ran*")


def test_a_failure_shows_what_broke_minimised_and_how_to_repeat_it(
    pytester: pytest.Pytester,
) -> None:
    write_test(pytester, FOLDER, ENGINE=WRONG)
    failed = run(pytester)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(
        [
            "FAIL *two_steps.yaml: Two steps on two ranks",
            "*values.bitwise: operation 0, rank *, w*",
            "*expected *0x*",
            "*actual *0x*",
            "minimised: *two_steps.yaml",
            "adamant: 1",
            "world: {shard: 1}",
            "expect: {violates: values.bitwise}",
            "session: *two_steps.py.session.json",
            "--script: *two_steps.py.session.json: a recorded session of *",
            "replay: pytest 'test_engine.py::test_folder' --adamant-replay *two_steps.yaml",
        ]
    )
    failed.stdout.no_fnmatch_line("*Traceback*")
    failed.stdout.no_fnmatch_line("*verdicts.py*")
    found = re.search(r"--adamant-replay (\S+)", str(failed.stdout))
    assert found is not None
    for what in (found[1], "test_engine.py::test_folder"):
        again = run(pytester, "--adamant-replay", what)
        again.assert_outcomes(failed=1)
        again.stdout.fnmatch_lines(["*expected pass, outcome violated*", "*values.bitwise:*"])
    write_test(pytester, FOLDER, ENGINE=NUMPY)
    run(pytester, "--adamant-replay", found[1]).assert_outcomes(passed=1)


def test_a_search_finds_a_planted_bug_and_nothing_in_a_good_engine(
    pytester: pytest.Pytester,
) -> None:
    search = "@adamant.fuzz(engine=ENGINE, cases=20, seed=1)\ndef test_search() -> None: ...\n"
    write_test(pytester, search, ENGINE=NUMPY)
    run(pytester).assert_outcomes(passed=1)
    write_test(pytester, search + FOLDER, ENGINE=WRONG)
    failed = run(pytester, "-k", "search", "--adamant-out", "found")
    failed.assert_outcomes(failed=1, deselected=1)
    failed.stdout.fnmatch_lines(
        [
            "*values.bitwise:*",
            f"minimised: {pytester.path}/found/*values.bitwise*.yaml",
            "replay: pytest 'test_engine.py::test_search' --adamant-replay *",
        ]
    )
    again = run(
        pytester, "--adamant-out", "found", "--adamant-replay", "test_engine.py::test_search"
    )
    outcomes = again.parseoutcomes()
    assert outcomes["failed"] == len(list((pytester.path / "found").rglob("*.yaml")))
    assert "passed" not in outcomes


def test_what_the_engine_has_not_is_skipped_with_the_reason(pytester: pytest.Pytester) -> None:
    flat = SCENARIO + "layout: flat\n"
    (pytester.path / "scenarios" / "two_steps.yaml").write_text(flat)
    write_test(pytester, FOLDER, ENGINE=NUMPY)
    skipped = run(pytester, "-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["SKIPPED*unsupported.layout*"])


def test_what_the_machine_has_not_is_skipped_with_the_reason(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADAMANT_TORCH", "echo there is no PyTorch >&2; exit 1")
    write_test(pytester, FOLDER, ENGINE="torch")
    skipped = run(pytester, "-rs")
    skipped.assert_outcomes(skipped=1)
    skipped.stdout.fnmatch_lines(["SKIPPED*there is no PyTorch*"])


@pytest.mark.parametrize(
    ("engine", "scenario", "text"),
    [
        ("exec:echo I have no wheels >&2; exit 1", SCENARIO, "*I have no wheels*"),
        (NUMPY, "adamant: 1\nworld: {shards: 2}\n", "*two_steps.yaml:2:*shards*"),
        (NUMPY, "title: no scenario\n", "*holds no scenario*"),
    ],
)
def test_what_is_wrong_around_an_engine_is_an_error(
    pytester: pytest.Pytester, engine: str, scenario: str, text: str
) -> None:
    (pytester.path / "scenarios" / "two_steps.yaml").write_text(scenario)
    write_test(pytester, FOLDER, ENGINE=engine)
    wrong = run(pytester)
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines([text])
    wrong.stdout.no_fnmatch_line("*Traceback*")


def test_the_program_is_named_in_four_ways(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_test(pytester, FOLDER, ENGINE=NUMPY)
    run(pytester, "--adamant-program", "nowhere").stdout.fnmatch_lines(
        ["adamant: --adamant-program: nowhere is no program"]
    )
    monkeypatch.delenv("ADAMANT")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    missing = run(pytester)
    missing.assert_outcomes(errors=1)
    missing.stdout.fnmatch_lines(["adamant: the program is not in PATH; name it by *"])
    pytester.makeini(f"[pytest]\nadamant_program = {PROGRAM}\n")
    run(pytester).assert_outcomes(passed=1)
    pytester.makeini("[pytest]\n")
    run(pytester, f"--adamant-program={PROGRAM}").assert_outcomes(passed=1)


def test_xdist_gives_each_worker_its_share(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    (pytester.path / "scenarios" / "one_step.yaml").write_text(
        SCENARIO.replace("train: 2", "train: 1")
    )
    write_test(pytester, FOLDER, ENGINE=WRONG)
    failed = run(pytester, "-n", "2")
    failed.assert_outcomes(failed=2)
    for file in ("one_step.yaml", "two_steps.yaml"):  # the workers end in any order
        failed.stdout.fnmatch_lines([f"minimised: *{file}"])


CLASSES = """
import torch
from adamant_torch import Engine

class Grows(Engine):
    @torch.no_grad()
    def step(self) -> bool:
        applied = super().step()
        for parameter in self.parameters.values():
            parameter.to_local().mul_(1.5)
        return applied

@adamant.scenarios("scenarios", engine=Engine)
def test_right() -> None: ...

@adamant.scenarios("scenarios", engine=Grows)
def test_wrong() -> None: ...
"""


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_a_class_is_the_engine_however_its_module_was_imported(
    pytester: pytest.Pytester, mode: str
) -> None:
    write_test(pytester, CLASSES)
    ended = run(pytester, f"--import-mode={mode}")
    ended.assert_outcomes(passed=1, failed=1)
    ended.stdout.fnmatch_lines(["*values.*: operation 0, rank 0, w*", "minimised: *"])


def test_a_failure_says_that_pytorch_is_not_to_blame(pytester: pytest.Pytester) -> None:
    search = "@adamant.fuzz(engine=Grows, cases=20, seed=1)\ndef test_search() -> None: ...\n"
    write_test(pytester, CLASSES + search)
    failed = run(pytester, "-k", "wrong or search", "--adamant-out", "found")
    failed.assert_outcomes(failed=2, deselected=1)
    found = list((pytester.path / "found").rglob("*.yaml"))
    notes = [line for line in failed.stdout.lines if line.startswith("PyTorch's own")]
    assert notes == ["PyTorch's own FSDP2 engine passes this scenario"] * len(found)
    scripts = list((pytester.path / "found").rglob("*.py"))
    assert len(scripts) == len(found)
    assert all("from test_engine import Grows" in script.read_text() for script in scripts)
    again = run(
        pytester, "--adamant-out", "found", "--adamant-replay", "test_engine.py::test_wrong"
    )
    again.stdout.fnmatch_lines(["PyTorch's own FSDP2 engine passes this scenario"])


def test_a_failure_says_that_pytorch_fails_alike_and_has_its_script(
    pytester: pytest.Pytester,
) -> None:
    write_defect_of_pytorch(pytester)
    write_test(pytester, CLASSES)
    failed = run(pytester, "-k", "right", "--adamant-out", "found")
    failed.assert_outcomes(failed=1, deselected=1)
    failed.stdout.fnmatch_lines(
        [
            "minimised: *two_steps.yaml",
            "script: *two_steps.py",
            "*import torch*",
            "PyTorch's own FSDP2 engine also fails: checkpoint.roundtrip",
            "replay: *",
        ]
    )
    failed.stdout.no_fnmatch_line("--script: nothing is written*")
    (script,) = (pytester.path / "found").rglob("*.py")
    assert pytester.run(sys.executable, script).ret == 1


def test_a_class_inside_a_function_is_an_error(pytester: pytest.Pytester) -> None:
    write_test(
        pytester,
        "from adamant_torch import Engine\n\n\ndef make() -> type[Engine]:\n"
        "    class Hidden(Engine): ...\n    return Hidden\n\n\n"
        + FOLDER.replace("ENGINE", "make()"),
    )
    wrong = run(pytester)
    wrong.assert_outcomes(errors=1)
    wrong.stdout.fnmatch_lines(["*make.<locals>.Hidden: a class inside a function*"])


def write_defect_of_pytorch(pytester: pytest.Pytester) -> None:
    """Put a scenario into the folder that PyTorch itself fails."""
    known = ROOT / "adamant_torch" / "known" / "moments_take_parameter_type.yaml"
    text = re.sub(r"(?m)^expect:.*\n?", "", known.read_text())
    Path(pytester.path / "scenarios" / "two_steps.yaml").write_text(text)


def test_pytorch_itself_fails_with_a_script(pytester: pytest.Pytester) -> None:
    write_defect_of_pytorch(pytester)
    write_test(pytester, FOLDER, ENGINE="torch")
    failed = run(pytester)
    failed.assert_outcomes(failed=1)
    failed.stdout.fnmatch_lines(["minimised: *", "script: *.py", "*import torch*", "replay: *"])
    failed.stdout.no_fnmatch_line("PyTorch's own*")  # it is the engine under test


def test_a_search_on_pytorch_fails_for_nothing_that_is_known(pytester: pytest.Pytester) -> None:
    search = "@adamant.fuzz(engine=ENGINE, cases=60, seed=2)\ndef test_search() -> None: ...\n"
    write_test(pytester, search, ENGINE="torch")
    run(pytester, "--adamant-out", "found").assert_outcomes(passed=1)
    assert not list(pytester.path.rglob("found/**/*.yaml"))


def readme() -> tuple[str, list[tuple[str, list[str]]]]:
    """Return the test that the README shows, and its commands with what they print."""
    section = (ROOT / "README.md").read_text().split("## Scenarios as tests of pytest")[1]
    blocks = re.findall(r"```(python)?\n(.*?)```", section.split("\n## ")[0], re.DOTALL)
    commands = [text.splitlines() for kind, text in blocks if not kind]
    shown = [(lines[0], lines[1:]) for lines in commands]
    return next(text for kind, text in blocks if kind), shown


def pattern(line: str) -> str:
    """Return a line of the README as `fnmatch` takes it: an ellipsis stands for anything."""
    return line.replace("[", "[[]").replace("…", "*")


def test_the_commands_of_the_readme_print_what_it_shows(pytester: pytest.Pytester) -> None:
    test, commands = readme()
    right = (ROOT / "examples" / "sharded_adam.py").read_text()
    wrong = right.replace(" / (1 - beta1**t)", "")
    assert wrong != right
    pytester.makepyfile(
        sharded_adam=right,
        sharded_adam_wrong=wrong,
        test_my_engine=test,
        test_my_engine_wrong=test.replace("sharded_adam", "sharded_adam_wrong"),
    )
    assert len(commands) == 3
    for command, output in commands:
        name, *arguments = shlex.split(command.removeprefix("$ "))
        assert name == "pytest"
        lines = [pattern(line) for line in output if line != "…"]
        run(pytester, *arguments).stdout.fnmatch_lines(lines)
