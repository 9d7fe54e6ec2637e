"""The scripts of `defects/`: each shows on PyTorch 2.13 what it says, and the page has them all."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent.parent
SCRIPTS = sorted((HERE / "defects").glob("*.py"))
PAGE = (HERE / "DEFECTS.md").read_text(encoding="utf-8")
RELEASE = "2.13"


def imports(script: Path) -> set[str]:
    tree = ast.walk(ast.parse(script.read_text(encoding="utf-8")))
    names = [
        [alias.name for alias in node.names]
        if isinstance(node, ast.Import)
        else [node.module or ""]
        for node in tree
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    return {name.split(".")[0] for group in names for name in group}


def needs_safetensors(script: Path) -> bool:
    return "hf_storage" in script.read_text(encoding="utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_shows_its_defect(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")
    if needs_safetensors(script):
        pytest.importorskip("safetensors", reason="PyTorch's Hugging Face formats need safetensors")
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        capture_output=True,
        env=environment,
        text=True,
        timeout=120,
    )
    said = run.stdout.lower()
    assert "expected" in said, run.stderr
    assert "actual" in said, run.stderr
    if torch.__version__.startswith(RELEASE):
        assert run.returncode == 1, f"not on PyTorch {torch.__version__}:\n{run.stdout}"
    else:
        assert run.returncode in (0, 1), run.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_stands_alone_and_is_short(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 80
    assert imports(script) <= {"torch", *sys.stdlib_module_names}


def test_the_page_tells_of_each_script_and_of_no_other() -> None:
    told = {word for word in PAGE.replace("(", " ").replace(")", " ").split() if "defects/" in word}
    assert told == {f"defects/{script.name}" for script in SCRIPTS}
