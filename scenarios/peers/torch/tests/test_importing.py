"""What `hello` says of an engine's class: enough for another Python to import it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adamant_torch import Engine
from adamant_torch.importing import engine_class
from tests.peer import ROOT

MINE = """
import adamant_torch


class MyEngine(adamant_torch.Engine):
    class Inner(adamant_torch.Engine):
        pass
"""
HELLO = b'{"id": 0, "request": "hello", "version": 1}\n'


def said(engine: str, folder: Path, **environment: str) -> Any:
    """Return what a launcher that was started in `folder` says of its class."""
    ended = subprocess.run(
        [sys.executable, "-m", "adamant_torch", "--engine", engine],
        input=HELLO,
        capture_output=True,
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
    )
    return json.loads(ended.stdout).get("engine_class")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "__init__.py").write_text("")
    (tmp_path / "mine" / "engines.py").write_text(MINE)
    (tmp_path / "mine" / "my-engine.py").write_text(MINE)
    return tmp_path


@pytest.mark.parametrize("name", ["MyEngine", "MyEngine.Inner"])
def test_a_module_in_the_working_directory_needs_that(package: Path, name: str) -> None:
    found = {"module": "mine.engines", "name": name, "path": str(package)}
    assert said(f"mine.engines:{name}", package) == found


def test_a_module_in_pythonpath_needs_that(package: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = os.pathsep.join([str(ROOT), str(package)])
    found = {"module": "mine.engines", "name": "MyEngine", "path": str(package)}
    assert said("mine.engines:MyEngine", elsewhere, PYTHONPATH=path) == found


def test_a_file_is_imported_from_its_folder(package: Path) -> None:
    file = package / "mine" / "engines.py"
    found = {"module": "engines", "name": "MyEngine", "path": str(file.parent)}
    assert said(f"{file}:MyEngine", package) == found


def test_a_file_whose_name_is_no_word_is_not_imported(package: Path) -> None:
    assert said(f"{package}/mine/my-engine.py:MyEngine", package) is None


def test_what_is_installed_needs_no_path() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import adamant_torch"], cwd="/", capture_output=True, check=False
    )
    if ended.returncode != 0:
        pytest.skip("adamant_torch is not installed here")
    assert engine_class(Engine) == {"module": "adamant_torch.engine", "name": "Engine"}


def test_a_class_in_a_function_is_not_imported() -> None:
    class Here(Engine):
        pass

    assert engine_class(Here) is None
