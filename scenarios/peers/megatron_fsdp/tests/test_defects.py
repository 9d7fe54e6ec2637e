"""The scripts of `defects/`: each shows on Megatron-FSDP what it says; the page has them all."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

HERE = Path(__file__).parent.parent
SHARED = "without_gpu.py"
SCRIPTS = sorted(path for path in (HERE / "defects").glob("*.py") if path.name != SHARED)
PAGE = (HERE / "DEFECTS.md").read_text(encoding="utf-8")
PACKAGE, RELEASE = "megatron-fsdp", "0.6.1"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_shows_its_defect(script: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)},
        text=True,
        timeout=240,
    )
    assert "expected" in run.stdout, run.stderr
    assert "actual" in run.stdout, run.stderr
    assert run.returncode == (1 if version(PACKAGE) == RELEASE else run.returncode), run.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_stands_alone(script: Path) -> None:
    tree = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    names = [
        [alias.name for alias in node.names]
        if isinstance(node, ast.Import)
        else [node.module or ""]
        for node in tree
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    found = {name.split(".")[0] for group in names for name in group}
    assert found <= {"torch", "megatron_fsdp", "without_gpu", *sys.stdlib_module_names}


def test_the_page_tells_of_each_script_and_of_no_other() -> None:
    told = {word for word in PAGE.replace("(", " ").replace(")", " ").split() if "defects/" in word}
    assert told == {f"defects/{script.name}" for script in SCRIPTS}
