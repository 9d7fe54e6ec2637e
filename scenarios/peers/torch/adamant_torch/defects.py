"""What is known of an engine, and scripts that show it: what tests of an adapter look at.

`known.yaml` keeps to a few forms of YAML, which this reads by itself: nothing else here needs a
reader. The program makes a script of a cause from a scenario that shows it. What no scenario can
say has a script by hand, in `defects/`.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import pytest

PATIENCE_SECONDS = 300.0
SHARED = "without_gpu.py"  # what scripts by hand share


@dataclass(frozen=True)
class Known:
    """A cause, and the scenarios that show it, of a folder."""

    folder: Path
    name: str
    cause: str
    effect: str
    versions: tuple[str, ...]
    thread: str
    shown_by: tuple[str, ...]
    avoid: tuple[str, ...] = ()  # "option: value"
    met: str = "often"

    def shows(self, *packages: str) -> bool:
        """Whether it was seen in the releases of PyTorch and of `packages` that are here."""
        here = {metadata.version(name).split("+")[0] for name in ("torch", *packages)}
        return any(here.issuperset(re.findall(r"\d[\d.]*", each)) for each in self.versions)


def flow(text: str, brackets: str) -> tuple[str, ...]:
    """Return what is between brackets, as texts."""
    assert text[0] + text[-1] == brackets, text
    return tuple(item.strip() for item in text[1:-1].split(","))


def known(folder: Path) -> list[Known]:
    """Return all entries of the file in a folder."""
    text = (folder / "known.yaml").read_text(encoding="utf-8").split("known:\n", 1)[1]
    text = re.sub(r"\n {6,}", " ", text)  # a value may go on in the next line
    entries = []
    for part in re.split(r"^  - ", text, flags=re.MULTILINE)[1:]:
        fields = dict(line.strip().split(": ", 1) for line in part.splitlines() if line.strip())
        shown_by = flow(fields.pop("shown_by"), "[]")
        avoid = flow(fields.pop("avoid"), "{}") if "avoid" in fields else ()
        versions = flow(fields.pop("versions"), '""')
        entries.append(Known(folder, **fields, versions=versions, shown_by=shown_by, avoid=avoid))
    return entries


def all_known(package: Path) -> list[Known]:
    """Return the entries of all files of an adapter's package."""
    return [each for file in sorted(package.rglob("known.yaml")) for each in known(file.parent)]


def by_hand(adapter: Path) -> list[Path]:
    """Return the scripts of `adapter/defects`, without the file that they share."""
    return sorted(path for path in (adapter / "defects").glob("*.py") if path.name != SHARED)


def must_show(script: Path, scratch: Path) -> None:
    """Run a script with `scratch` for its files: it prints both sides, and ends with 1."""
    said, complaints = scratch / "said", scratch / "complaints"
    with said.open("w") as out, complaints.open("w") as err:  # what a save left keeps pipes open
        ended = subprocess.run(
            [sys.executable, str(script)],
            stdout=out,
            stderr=err,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(scratch)},
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    assert "expected" in said.read_text(), complaints.read_text()
    assert ended.returncode == 1, said.read_text()


def script_must_show(cause: Known, scratch: Path, *packages: str) -> None:
    """Have the program make a script of the first scenario of a cause, which shows it.

    Skips what was not seen in the releases that are here, where it does not show.
    """
    program = os.environ.get("ADAMANT") or shutil.which("adamant")
    if not program:
        pytest.skip("there is no program: name it by ADAMANT")
    script = scratch / f"{cause.name}.py"
    scenario = str(cause.folder / cause.shown_by[0])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [program, "run", scenario, "--script", str(script), "--peer-timeout", "120"],
        capture_output=True,
        env={**os.environ, "PATH": path},
        text=True,
        check=False,
    )
    if not script.exists() and not cause.shows(*packages):
        pytest.skip(f"{cause.name} does not show in what is installed")
    assert script.exists(), made.stdout + made.stderr
    must_show(script, scratch)
