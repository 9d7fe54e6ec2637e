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
from defect_scripts import known
from tests.known import (
    FOLDER,
    KNOWN,
    LOOKED_AT,
    RELEASE,
    engine_options,
    is_seen_here,
    with_options,
)
from tests.peer import ROOT

FSDP1 = ROOT / "adamant_torch" / "fsdp1" / "known"
REPOSITORY = ROOT.parent.parent.parent
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"

needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None, reason="there is no program: build it, or name it by ADAMANT"
)


@pytest.mark.parametrize("folder", [FOLDER, FSDP1])
def test_each_entry_says_what_a_reader_needs(folder: Path) -> None:
    names = [entry.name for entry in known(folder)]
    assert len(set(names)) == len(names)
    for entry in known(folder):
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", entry.name)
        for sentence in (entry.cause, entry.effect):
            assert sentence[0].isupper() or sentence[0].isdigit()
            assert sentence.rstrip(")").endswith(".")
        assert entry.thread == "none" or entry.thread.startswith("https://github.com/")
        assert set(entry.versions) <= set(LOOKED_AT)


def test_each_scenario_of_the_folder_belongs_to_one_entry() -> None:
    shown = sorted(name for entry in KNOWN for name in entry.shown_by)
    assert shown == sorted({path.name for path in FOLDER.glob("*.yaml")} - {"known.yaml"})


def test_each_scenario_opens_with_the_reason_why_it_exists() -> None:
    for entry in KNOWN:
        for name in entry.shown_by:
            reason = (FOLDER / name).read_text(encoding="utf-8").split("\nadamant: 1\n")[0]
            assert reason.startswith("# ")
            assert reason.endswith(".")
            assert len(reason) > 60


def test_what_avoids_a_defect_is_offered_and_another_value_shows_it() -> None:
    offered = hello.options()
    for entry in KNOWN:
        for option in entry.avoid:
            name, value = option.split(": ")
            assert value in offered[name]
            texts = [(FOLDER / file).read_text(encoding="utf-8") for file in entry.shown_by]
            assert value != offered[name][0] or all(f"{name}: " in text for text in texts)


def outcomes(folder: Path, results: Path) -> dict[str, str]:
    """Run all scenarios of a folder; return how each ended, and if a law broke, whether its own."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    python = f"exec {sys.executable} -m adamant_torch"
    subprocess.run(
        [PROGRAM, "run", str(folder), "--json", str(results), "--peer-timeout", "120"],
        check=False,
        env={**os.environ, "ADAMANT_TORCH": python, "PATH": path, "PYTHONPATH": str(ROOT)},
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


def are_as_known(found: dict[str, str], expected: dict[str, str]) -> bool:
    """Whether scenarios end as expected; where nobody looked yet a defect may be there or not."""
    if RELEASE in LOOKED_AT:
        return found == expected
    ends = {"violated", "pass", "refused"}
    return found.keys() == expected.keys() and set(found.values()) <= ends


def is_offered(scenario: str) -> bool:
    """Whether this PyTorch has all that a scenario asks of the engine."""
    offered = hello.options()
    return all(value in offered[name] for name, value in engine_options(scenario).items())


@needs_program
def test_each_scenario_shows_its_defect_in_the_versions_of_its_entry(tmp_path: Path) -> None:
    expected = {}
    for entry in KNOWN:
        outcome = "violated" if is_seen_here(entry) else "pass"
        for name in entry.shown_by:
            offered = is_offered((FOLDER / name).read_text(encoding="utf-8"))
            expected[name] = outcome if offered else "refused"
        assert outcome in [expected[name] for name in entry.shown_by] or not is_seen_here(entry)
    found = outcomes(FOLDER, tmp_path / "results.json")
    assert are_as_known(found, expected), found


@needs_program
def test_no_scenario_shows_its_defect_with_the_options_that_avoid_it(tmp_path: Path) -> None:
    folder = tmp_path / "avoided"
    folder.mkdir()
    damaged = ("missing_shard", "shard_of_another_save", "flipped_bit")  # which a load then refuses
    expected = {}
    for entry in KNOWN:
        for name in entry.shown_by if entry.avoid else ():
            text = with_options((FOLDER / name).read_text(encoding="utf-8"), entry.avoid)
            (folder / name).write_text(text, encoding="utf-8")
            runs = is_offered(text) and not name.startswith(damaged)
            expected[name] = "pass" if runs else "refused"
    found = outcomes(folder, tmp_path / "results.json")
    assert found == expected
