"""The scripts of `defects/`: each shows on torchao 0.18.0 what it says; the page has them all."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from adamant_torch import defects

FOLDER = Path(__file__).parent.parent
SCRIPTS = defects.scripts(FOLDER)
RELEASE = "0.18.0"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_shows_its_defect(script: Path, tmp_path: Path) -> None:
    ended = defects.run(script, tmp_path)
    shows = 1 if version("torchao") == RELEASE else ended.returncode
    assert ended.returncode == shows, ended.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_stands_alone(script: Path) -> None:
    assert defects.imports(script) <= {"torch", "torchao"}


def test_the_page_tells_of_each_script_and_of_no_other() -> None:
    assert defects.told(FOLDER) == {script.name for script in SCRIPTS}
