"""What is known of PyTorch has scripts that show it; the pages of all adapters have what is known.

A page lacks a table? The failure prints it.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

import pytest

from adamant_torch import defects
from adamant_torch.defects import Known
from tests.known import KNOWN
from tests.peer import ROOT, need_format
from tests.test_known import FSDP1

PEERS = ROOT.parent
ADAPTERS = sorted(page.parent for page in PEERS.glob("*/DEFECTS.md"))
BY_HAND = [script for adapter in ADAPTERS for script in defects.by_hand(adapter)]

HEAD = """\
| cause | what happens | how far off | scenario | way around | seen in | thread |
|---|---|---|---|---|---|---|
"""


@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.name)
def test_a_script_of_each_cause_shows_it(cause: Known, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")
    if "format: hf_" in (cause.folder / cause.shown_by[0]).read_text(encoding="utf-8"):
        need_format("hf_sharded")
    defects.script_must_show(cause, tmp_path)


@pytest.mark.parametrize("cause", defects.known(FSDP1), ids=lambda cause: cause.name)
def test_a_script_of_each_cause_shows_it_in_fsdp1(cause: Known, tmp_path: Path) -> None:
    defects.script_must_show(cause, tmp_path)


@pytest.mark.parametrize("script", defects.by_hand(ROOT), ids=lambda script: script.stem)
def test_a_script_by_hand_shows_its_defect(script: Path, tmp_path: Path) -> None:
    defects.must_show(script, tmp_path)


@pytest.mark.parametrize("script", BY_HAND, ids=lambda script: script.stem)
def test_a_script_by_hand_needs_the_engine_alone(script: Path) -> None:
    found: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    engine = script.parent.parent.name
    assert found <= {"torch", engine, "without_gpu", *sys.stdlib_module_names}


def scenario_of(cause: Known, adapter: Path) -> str:
    """Return a link to the first scenario of a cause, and how many more there are."""
    first, *others = cause.shown_by
    at = os.path.relpath(cause.folder / first, adapter)
    return f"[{Path(first).stem}]({at})" + (f" and {len(others)} more" if others else "")


def thread_of(cause: Known) -> str:
    """Return a link to where the public can read of a cause."""
    found = re.fullmatch(r"https://github.com/[^/]+/([^/]+)/\w+/(\d+)", cause.thread)
    return f"[{found[1]} {found[2]}]({cause.thread})" if found else "-"


def table(causes: list[Known], adapter: Path) -> str:
    """Return what is known as the adapter's page has it."""
    rows = [
        (
            f"`{cause.name}`",
            cause.cause,
            cause.effect,
            scenario_of(cause, adapter),
            ", ".join(f"`{option}`" for option in cause.avoid) or "-",
            ", ".join(cause.versions),
            thread_of(cause),
        )
        for cause in causes
    ]
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.name)
def test_the_page_has_what_is_known_and_each_script_by_hand(adapter: Path) -> None:
    page = (adapter / "DEFECTS.md").read_text(encoding="utf-8")
    files = sorted(adapter.rglob("adamant_*/**/known.yaml"))
    assert files
    for file in files:
        causes = defects.known(file.parent)
        assert all(cause.effect for cause in causes)
        wanted = table(causes, adapter)
        assert wanted in page, f"{adapter.name}/DEFECTS.md lacks this table:\n{wanted}"
    told = re.findall(r"\(defects/(\w+\.py)\)", page)
    assert sorted(told) == [script.name for script in defects.by_hand(adapter)]
