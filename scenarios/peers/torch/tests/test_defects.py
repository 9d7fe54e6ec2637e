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

from adamant_torch import Engine
from defect_scripts import SHARED, Known, ShowDefects, by_hand, known
from tests.peer import ROOT, need_format

PEERS = ROOT.parent
ADAPTERS = sorted(page.parent for page in PEERS.glob("*/DEFECTS.md"))
BY_HAND = [script for adapter in ADAPTERS for script in by_hand(adapter)]

HEAD = """\
| cause | what happens | how far off | scenario | way around | seen in | thread |
|---|---|---|---|---|---|---|
"""


class TestDefects(ShowDefects):
    engine = Engine

    def lacking(self, cause: Known) -> str:
        """Skip what needs formats that are not here."""
        pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")
        if "format: hf_" in cause.scenario.read_text(encoding="utf-8"):
            need_format("hf_sharded")
        return ""


@pytest.mark.parametrize("script", BY_HAND, ids=lambda script: script.stem)
def test_a_script_by_hand_needs_the_engine_alone(script: Path) -> None:
    found: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    engine = script.parent.parent.name
    assert found <= {"torch", engine, *SHARED, *sys.stdlib_module_names}


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
        causes = known(file.parent)
        assert all(cause.effect for cause in causes)
        wanted = table(causes, adapter)
        assert wanted in page, f"{adapter.name}/DEFECTS.md lacks this table:\n{wanted}"
    told = re.findall(r"\(defects/(\w+\.py)\)", page)
    assert sorted(told) == [script.name for script in by_hand(adapter)]
