"""The package as a user gets it: a wheel, installed into an environment of its own."""

from __future__ import annotations

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


def run(*command: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where nothing of the sources can be imported by chance."""
    return subprocess.run(
        [str(part) for part in command], cwd=cwd, check=False, capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a wheel of this folder's files, built with what is installed."""
    pytest.importorskip("setuptools", reason="setuptools is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"  # what a build leaves would be in the next wheel
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", "*.egg-info", ".*"))
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    built = run(*pip, "-w", folder, source, cwd=folder)
    if "No module named pip" in built.stderr:
        pytest.skip("pip is not installed")
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment with the wheel, and PyTorch from that of the tests."""
    place = tmp_path_factory.mktemp("environment")
    assert run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place).returncode == 0
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps"]
    done = run(*pip, wheel, cwd=place)
    assert done.returncode == 0, done.stderr
    (packages,) = place.glob("lib/python*/site-packages")
    torch_lies_in = Path(torch.__file__).parent.parent
    (packages / "torch.pth").write_text(f"{torch_lies_in}\n", encoding="utf-8")
    return python


def metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as content:
        text = content.read(f"adamant_torch-{VERSION}.dist-info/METADATA").decode()
    return Parser().parsestr(text)


def test_the_wheel_has_all_that_the_packages_need_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = set(content.namelist())
    packages = ("adamant_torch", "adamant_torch_fsdp1", "adamant_pytest")
    folders = [ROOT / name for name in packages]
    files = {
        str(path.relative_to(ROOT))
        for folder in folders
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"adamant_torch/py.typed", "adamant_pytest/py.typed"} <= files
    assert "adamant_torch/known/known.yaml" in files
    assert {name for name in names if ".dist-info/" not in name} == files


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    said = metadata(wheel)
    assert said["Version"] == VERSION
    assert said["License-Expression"] == "Apache-2.0"
    assert said["Requires-Python"] == ">=3.10"
    assert said["Project-URL"] == "Engine, https://github.com/pytorch/pytorch"
    assert said["Description-Content-Type"] == "text/markdown"
    assert str(said.get_payload()) == (ROOT / "README.md").read_text(encoding="utf-8")
    with zipfile.ZipFile(wheel) as content:
        licence = content.read(f"adamant_torch-{VERSION}.dist-info/licenses/LICENSE").decode()
    assert "Apache License" in licence


PACKAGES = [  # NumPy's adapter is an example, and none
    path.parent
    for path in sorted(ROOT.parent.glob("*/pyproject.toml"))
    if "[project]" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("folder", PACKAGES, ids=lambda path: path.name)
def test_each_adapter_carries_licence_readme_and_where_its_engine_is(folder: Path) -> None:
    said = (folder / "pyproject.toml").read_text(encoding="utf-8")
    assert 'license-files = ["LICENSE"]\n' in said
    assert 'readme = "README.md"\n' in said
    assert '[project.urls]\nEngine = "https://' in said
    assert "Apache License" in (folder / "LICENSE").read_text(encoding="utf-8")


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
