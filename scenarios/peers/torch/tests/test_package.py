"""The distribution as a user gets it: a wheel, installed into an environment of its own."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest
import torch

import adamant_torch
from tests.peer import ROOT

VERSION = adamant_torch.__version__
PEERS = ROOT.parent
ADAPTERS = sorted({path.parent for path in PEERS.glob("*/adamant_*")})


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where nothing of the sources can be imported by chance."""
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, check=False, capture_output=True, text=True
    )


def pip(*arguments: object, cwd: Path) -> None:
    """Call pip, which builds with what is installed here."""
    pytest.importorskip("hatchling", reason="hatchling is not installed")
    done = run(sys.executable, "-m", "pip", *arguments, "-q", "--no-deps", cwd=cwd)
    if "No module named pip" in done.stderr:
        pytest.skip("pip is not installed")
    assert done.returncode == 0, done.stderr


def files(folder: Path) -> set[Path]:
    """Return the paths of all files in a folder, but for what Python leaves of a run."""
    return {
        path.relative_to(folder)
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the adapters' folder."""
    place = tmp_path_factory.mktemp("sources") / "peers"
    shutil.copytree(PEERS, place, ignore=shutil.ignore_patterns(".*"))
    return place


@pytest.fixture(scope="module")
def wheel(sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of a folder's files."""
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-build-isolation", "-w", folder, sources, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel, and PyTorch from that of the tests."""
    place = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place).returncode == 0
    python = place / "bin" / "python"
    pip("--python", python, "install", wheel, cwd=place)
    (packages,) = place.glob("lib/python*/site-packages")
    torch_lies_in = Path(torch.__file__).parent.parent
    (packages / "torch.pth").write_text(f"{torch_lies_in}\n", encoding="utf-8")
    return python


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as content:
        text = content.read(f"adamant_peers-{VERSION}.dist-info/METADATA").decode()
    return Parser().parsestr(text)


def test_the_wheel_has_all_that_the_packages_need_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    expected = {
        str(folder.relative_to(folder.parent) / path)
        for adapter in ADAPTERS
        for folder in adapter.glob("adamant_*")
        for path in files(folder)
    }
    assert {"adamant_torch/py.typed", "adamant_torch/known/known.yaml"} <= expected
    assert {name for name in names if ".dist-info/" not in name} == expected


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    said = metadata(wheel)
    assert said["Version"] == VERSION
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Requires-Python"] == ">=3.10"
    assert said["Description-Content-Type"] == "text/markdown"
    assert str(said.get_payload()) == (PEERS / "README.md").read_text(encoding="utf-8")
    with zipfile.ZipFile(wheel) as content:
        licence = content.read(f"adamant_peers-{VERSION}.dist-info/licenses/LICENSE").decode()
    assert "Apache License" in licence


def test_each_adapter_is_an_extra(wheel: Path) -> None:
    extras = set(metadata(wheel).get_all("Provides-Extra") or [])
    assert {adapter.name.replace("_", "-") for adapter in ADAPTERS} <= extras


def test_without_an_extra_it_needs_nothing(wheel: Path) -> None:
    needs = metadata(wheel).get_all("Requires-Dist") or []
    assert [need for need in needs if "; extra == " not in need] == []


def test_an_installation_leaves_nothing_in_the_tree(
    wheel: Path, sources: Path, tmp_path: Path
) -> None:
    editable = ("--ignore-installed", "--no-build-isolation", "-e", sources)
    pip("install", "--prefix", tmp_path, *editable, cwd=tmp_path)
    left = files(sources) - files(PEERS)
    assert left == set(), f"left by {wheel.name} and the installation"
    (added,) = tmp_path.glob("lib/python*/site-packages/_adamant_peers.pth")
    folders = [sources / adapter.name for adapter in ADAPTERS]
    assert added.read_text(encoding="utf-8").splitlines() == [str(folder) for folder in folders]


def test_a_class_that_is_not_there_has_a_near_one(tmp_path: Path) -> None:
    said = run(
        sys.executable, "-m", "adamant_torch", "--engine", "adamant_torch:Engin", cwd=tmp_path
    )
    assert said.returncode == 1
    assert said.stderr.endswith("adamant_torch.Engine (did you mean `Engine`?)\n")


def test_the_installed_package_starts_and_says_its_version(installed: Path, tmp_path: Path) -> None:
    for command in ([installed, "-m", "adamant_torch"], [installed.parent / "adamant-torch"]):
        said = run(*command, "--version", cwd=tmp_path)
        assert said.stdout == f"adamant-torch {VERSION} (torch {torch.__version__})\n", said.stderr
    where = run(
        installed, "-c", "import adamant_torch; print(adamant_torch.__file__)", cwd=tmp_path
    )
    assert where.stdout.startswith(str(installed.parent.parent))


@pytest.mark.parametrize(
    ("body", "right"), [("return super().clip()", True), ("return str(super().clip())", False)]
)
def test_mypy_knows_the_types_of_the_installed_package(
    installed: Path, tmp_path: Path, body: str, right: bool
) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "mine.py").write_text(
        "import adamant_torch\n\n\nclass MyEngine(adamant_torch.Engine):\n"
        f"    def clip(self) -> float:\n        {body}\n",
        encoding="utf-8",
    )
    mypy = [sys.executable, "-m", "mypy", "--strict", "--python-executable", installed]
    said = run(*mypy, "mine.py", cwd=tmp_path)
    assert (said.returncode == 0) == right, said.stdout + said.stderr
    if not right:
        assert "Incompatible return value type" in said.stdout


def test_what_ships_needs_nothing_of_tests_but_the_plugin() -> None:
    helpers = {path.stem for path in (PEERS / "testing").iterdir()}
    of_tests = {"pytest", "_pytest", "tests", *helpers}
    shipped = [file for folder in PEERS.glob("*/adamant_*") for file in folder.rglob("*.py")]
    needing = set()
    for file in shipped:
        nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
        names = {each.name for node in nodes if isinstance(node, ast.Import) for each in node.names}
        names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
        if of_tests & {name.split(".")[0] for name in names}:
            needing.add(file.parent.name)
    assert needing == {"adamant_pytest"}
