"""The scripts of `defects/`: each shows on PyTorch 2.13 what it says, and the page has them all."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from adamant_torch import defects
from tests.peer import need_format

FOLDER = Path(__file__).parent.parent
SCRIPTS = defects.scripts(FOLDER)
RELEASE = "2.13"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_shows_its_defect(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")
    if "hf_storage" in script.read_text(encoding="utf-8"):
        need_format("hf_sharded")
    ended = defects.run(script, tmp_path)
    if torch.__version__.startswith(RELEASE):
        assert ended.returncode == 1, f"not on PyTorch {torch.__version__}:\n{ended.stdout}"
    else:
        assert ended.returncode in (0, 1), ended.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_stands_alone_and_is_short(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 80
    assert defects.imports(script) <= {"torch"}


def test_the_page_tells_of_each_script_and_of_no_other() -> None:
    assert defects.told(FOLDER) == {script.name for script in SCRIPTS}
