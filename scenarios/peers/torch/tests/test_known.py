"""Known defects: the file has each cause once, its scenarios show it, its options avoid it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from adamant_torch import hello
from tests.known import FOLDER, RELEASE, engine_options, known, releases, with_options
from tests.peer import ROOT

REPOSITORY = ROOT.parent.parent.parent
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"

needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None or RELEASE not in releases(),
    reason=f"there is no program (build it, or name it by ADAMANT), or PyTorch {RELEASE} is in no "
    "entry's versions",
)


def test_each_entry_says_what_a_reader_needs() -> None:
    names = [entry.name for entry in known()]
    assert len(set(names)) == len(names)
    for entry in known():
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", entry.name)
        assert entry.cause[0].isupper()
        assert entry.cause.endswith(".")
        assert entry.thread == "none" or entry.thread.startswith("https://github.com/")
        assert all(re.fullmatch(r"2\.\d+\.\d+", release) for release in entry.versions)


def test_each_scenario_of_the_folder_belongs_to_one_entry() -> None:
    shown = sorted(name for entry in known() for name in entry.shown_by)
    assert shown == sorted({path.name for path in FOLDER.glob("*.yaml")} - {"known.yaml"})


def test_each_scenario_opens_with_the_reason_why_it_exists() -> None:
    for entry in known():
        for name in entry.shown_by:
            reason = (FOLDER / name).read_text(encoding="utf-8").split("\nadamant: 1\n")[0]
            assert reason.startswith("# ")
            assert reason.endswith(".")
            assert len(reason) > 60


def test_what_avoids_a_defect_is_offered_and_another_value_shows_it() -> None:
    offered = hello.options()
    for entry in known():
        for option in entry.avoid:
            name, value = option.split(": ")
            assert value in offered[name]
            texts = [(FOLDER / file).read_text(encoding="utf-8") for file in entry.shown_by]
            assert value != offered[name][0] or all(f"{name}: " in text for text in texts)


def outcomes(folder: Path, results: Path) -> dict[str, str]:
    """Run all scenarios of a folder; return how each ended, and whether the law is another."""
    python = f"exec {sys.executable} -m adamant_torch"
    subprocess.run(
        [PROGRAM, "run", str(folder), "--json", str(results)],
        check=False,
        env={**os.environ, "ADAMANT_TORCH": python, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=600,
    )
    found = json.loads(results.read_text(encoding="utf-8"))["results"]
    return {
        Path(result["file"]).name: "violated otherwise"
        if result["outcome"] == "violated" and not result["met"]
        else result["outcome"]
        for result in found
    }


def is_offered(scenario: str) -> bool:
    """Whether this PyTorch has all that a scenario asks of the engine."""
    offered = hello.options()
    return all(value in offered[name] for name, value in engine_options(scenario).items())


@needs_program
def test_each_scenario_shows_its_defect_in_the_versions_of_its_entry(tmp_path: Path) -> None:
    expected = {}
    for entry in known():
        shows = "violated" if RELEASE in entry.versions else "pass"
        for name in entry.shown_by:
            offered = is_offered((FOLDER / name).read_text(encoding="utf-8"))
            expected[name] = shows if offered else "refused"
        assert shows == "pass" or "violated" in map(expected.get, entry.shown_by), entry.name
    found = outcomes(FOLDER, tmp_path / "results.json")
    assert found == expected


@needs_program
def test_no_scenario_shows_its_defect_with_the_options_that_avoid_it(tmp_path: Path) -> None:
    folder = tmp_path / "avoided"
    folder.mkdir()
    damaged = ("missing_shard", "shard_of_another_save", "flipped_bit")  # which a load then refuses
    expected = {}
    for entry in known():
        for name in entry.shown_by if entry.avoid else ():
            text = with_options((FOLDER / name).read_text(encoding="utf-8"), entry.avoid)
            (folder / name).write_text(text, encoding="utf-8")
            runs = is_offered(text) and not name.startswith(damaged)
            expected[name] = "pass" if runs else "refused"
    found = outcomes(folder, tmp_path / "results.json")
    assert found == expected
