"""What is known of an engine, and scripts that show it: tests that each adapter has of them.

`known.yaml` keeps to a few forms of YAML, which this reads by itself: nothing else here needs a
reader. The program makes a script of a cause from a scenario that shows it. What no scenario can
say has a script by hand, in `defects/`.

    class TestDefects(defect_scripts.ShowDefects):
        engine = MyEngine
"""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from adamant_torch import Engine, hello

PATIENCE_SECONDS = 300.0
SHARED = ("shared", "without_gpu")  # what scripts by hand share
BROKEN = """\
import runpy, sys, torch

def no_parameter(*_, **__):
    raise RuntimeError("out of paper")

torch.nn.Parameter.__new__ = no_parameter
script = sys.argv[1]
sys.path[0] = script.rpartition("/")[0]
runpy.run_path(script, run_name="__main__")
"""


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

    @property
    def scenario(self) -> Path:
        """The first that shows it."""
        return self.folder / self.shown_by[0]

    def was_seen_in(self, releases: set[str]) -> bool:
        """Return whether these are those of one of `versions`."""
        return any(releases.issuperset(re.findall(r"\d[\d.]*", each)) for each in self.versions)


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
    return sorted(path for path in (adapter / "defects").glob("*.py") if path.stem not in SHARED)


def status_of(command: list[Path], scratch: Path) -> tuple[int, str, str]:
    """Run a script with `scratch` for its files; return how it ends and all that it says."""
    said, complaints = scratch / "said", scratch / "complaints"
    with said.open("w") as out, complaints.open("w") as err:  # what a save left keeps pipes open
        ended = subprocess.run(
            [sys.executable, *command],
            stdout=out,
            stderr=err,
            env={**os.environ, "OMP_NUM_THREADS": "1", "TMPDIR": str(scratch)},
            timeout=PATIENCE_SECONDS,
            check=False,
        )
    return ended.returncode, said.read_text(), complaints.read_text()


def must_show(script: Path, scratch: Path) -> None:
    """Run a script: it prints both sides, and ends with 1."""
    status, said, complaints = status_of([script], scratch)
    assert "expected" in said, complaints
    assert status == 1, said


def script_of(cause: Known, scratch: Path) -> tuple[Path, str]:
    """Have the program make a script of a cause; return where it should be, and what was said."""
    program = os.environ.get("ADAMANT") or shutil.which("adamant")
    if not program:
        pytest.skip("there is no program: name it by ADAMANT")
    script = scratch / f"{cause.name}.py"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    made = subprocess.run(
        [program, "run", cause.scenario, "--script", script, "--peer-timeout", "120"],
        capture_output=True,
        env={**os.environ, "PATH": path},
        text=True,
        check=False,
    )
    return script, made.stdout + made.stderr


class ShowDefects:
    """What is known of an engine has scripts that show it, made of scenarios or by hand.

    Skipped is what does not show because it was not seen in the releases that are here.
    """

    engine: type[Engine]

    def lacking(self, cause: Known) -> str:
        """Return what is not here and the scenario of a cause needs; nothing where all is."""
        return ""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Make a test of each cause, and of each script by hand."""
        package = Path(inspect.getfile(self.engine)).parent
        if "cause" in metafunc.fixturenames:
            metafunc.parametrize("cause", all_known(package), ids=lambda cause: cause.name)
        if "script" in metafunc.fixturenames:
            scripts = by_hand(package.parent)
            metafunc.parametrize("script", scripts, ids=lambda script: script.stem)

    def test_a_script_of_each_cause_shows_it(self, cause: Known, tmp_path: Path) -> None:
        """Have the program make it, and run it."""
        if why := self.lacking(cause):
            pytest.skip(why)
        script, said = script_of(cause, tmp_path)
        releases = hello.releases(self.engine)
        if not script.exists() and not cause.was_seen_in({*releases.values()}):
            pytest.skip(f"{cause.name} does not show in what is installed")
        assert script.exists(), said
        must_show(script, tmp_path)

    def test_a_script_by_hand_shows_its_defect(self, script: Path, tmp_path: Path) -> None:
        """Run it in releases that it was written for."""
        for name, release in hello.releases(self.engine).items():
            if name != "torch" and release not in self.engine.tried[name]:
                pytest.skip(f"it was not looked at in {name} {release}")
        must_show(script, tmp_path)

    def test_a_script_by_hand_tells_other_failures_apart(
        self, script: Path, tmp_path: Path
    ) -> None:
        """Run it where no parameter can be made: that is not its defect."""
        broken = tmp_path / "broken.py"
        broken.write_text(BROKEN, encoding="utf-8")
        status, said, complaints = status_of([broken, script], tmp_path)
        assert status == 2, said + complaints
