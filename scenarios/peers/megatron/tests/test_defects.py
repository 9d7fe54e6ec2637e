"""Every defect shows on the version that is installed, by a script that needs Megatron alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted(
    path
    for path in (Path(__file__).resolve().parent.parent / "defects").glob("*.py")
    if path.name != "without_gpu.py"
)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_defect_shows(script: Path, tmp_path: Path) -> None:
    with (tmp_path / "output").open("w+") as output:  # a pipe would wait for what a save left
        ended = subprocess.run(
            [sys.executable, script], stdout=output, stderr=output, timeout=300, check=False
        )
        output.seek(0)
        text = output.read()
    assert ended.returncode == 1, text
    assert "found:" in text
