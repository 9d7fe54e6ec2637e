"""Known defects: the file has each cause once, its scenarios show it, its options avoid it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from adamant_torch import hello
from tests.known import FOLDER, known, with_options
from tests.peer import ROOT

REPOSITORY = ROOT.parent.parent.parent
PROGRAM = os.environ.get("ADAMANT") or shutil.which("adamant") or f"{REPOSITORY}/build/dev/adamant"
RELEASE = "2.13"

needs_program = pytest.mark.skipif(
    shutil.which(PROGRAM) is None or not torch.__version__.startswith(RELEASE),
    reason=f"there is no program, or PyTorch is not {RELEASE}: build it, or name it by ADAMANT",
)


def test_each_entry_says_what_a_reader_needs() -> None:
    names = [entry.name for entry in known()]
    assert len(set(names)) == len(names)
    for entry in known():
        assert re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)*", entry.name)
        assert entry.cause[0].isupper()
        assert entry.cause.endswith(".")
        assert entry.thread == "none" or entry.thread.startswith("https://github.com/")
        assert RELEASE in entry.versions


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


def outcomes(folder: Path, results: Path) -> dict[str, Any]:
    """Run all scenarios of a folder; return the result of each file."""
    python = f"exec {sys.executable} -m adamant_torch"
    subprocess.run(
        [PROGRAM, "run", str(folder), "--json", str(results)],
        check=False,
        env={**os.environ, "ADAMANT_TORCH": python, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=600,
    )
    found = json.loads(results.read_text(encoding="utf-8"))["results"]
    return {Path(result["file"]).name: result for result in found}


@needs_program
def test_each_scenario_shows_its_defect(tmp_path: Path) -> None:
    found = outcomes(FOLDER, tmp_path / "results.json")
    assert len(found) == sum(len(entry.shown_by) for entry in known())
    for result in found.values():
        assert (result["outcome"], result["met"]) == ("violated", True), result


@needs_program
def test_no_scenario_shows_its_defect_with_the_options_that_avoid_it(tmp_path: Path) -> None:
    folder = tmp_path / "avoided"
    folder.mkdir()
    for entry in known():
        for name in entry.shown_by if entry.avoid else ():
            text = (FOLDER / name).read_text(encoding="utf-8")
            (folder / name).write_text(with_options(text, entry.avoid), encoding="utf-8")
    found = outcomes(folder, tmp_path / "results.json")
    assert len(found) == len(list(folder.iterdir()))
    other = {name: result["outcome"] for name, result in found.items()}
    refused = ("missing_shard", "shard_of_another_save", "flipped_bit")
    assert other == {name: "refused" if name.startswith(refused) else "pass" for name in found}
