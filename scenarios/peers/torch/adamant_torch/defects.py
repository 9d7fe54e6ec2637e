"""What tests of an adapter look at in its `defects/`: scripts that need its framework alone.

Each shows one defect, prints what was expected and what came, and ends with 1 where it shows. The
page DEFECTS.md beside the folder tells of all of them.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

PATIENCE_SECONDS = 240.0


def scripts(folder: Path, shared: tuple[str, ...] = ()) -> list[Path]:
    """Return the scripts of `folder/defects`, without the files that they share."""
    return sorted(path for path in (folder / "defects").glob("*.py") if path.name not in shared)


def run(script: Path, scratch: Path) -> subprocess.CompletedProcess[str]:
    """Run a script with `scratch` for its temporary files.

    Raises AssertionError where it does not print both sides, subprocess.TimeoutExpired where it
    does not end.
    """
    ended = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(scratch)},
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    said = ended.stdout.lower()
    assert "expected" in said, ended.stderr
    assert "actual" in said, ended.stderr
    return ended


def imports(script: Path) -> set[str]:
    """Return the packages that a script imports, but for Python's own."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
    return found - set(sys.stdlib_module_names)


def told(folder: Path) -> set[str]:
    """Return the names of the scripts to which `folder/DEFECTS.md` leads."""
    page = (folder / "DEFECTS.md").read_text(encoding="utf-8")
    words = page.replace("(", " ").replace(")", " ").split()
    return {word.removeprefix("defects/") for word in words if word.startswith("defects/")}
