"""The scripts of `defects/`: each shows what it says where its cause does, and the page has all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adamant_torch import defects
from tests.known import known
from tests.peer import need_format
from tests.test_known import FSDP1

FOLDER = Path(__file__).parent.parent
SCRIPTS = defects.scripts(FOLDER)
PAGE = (FOLDER / "DEFECTS.md").read_text(encoding="utf-8").splitlines()


def shows_here(script: Path) -> bool:
    """Whether the cause that a script shows is one of this PyTorch, by the page's row of it."""
    (row,) = (line for line in PAGE if f"(defects/{script.name})" in line)
    named = re.search(r"`(\w+\.yaml)`", row)
    causes = [*known(), *known(FSDP1)]
    return all(cause.shows() for cause in causes if named and named[1] in cause.shown_by)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_shows_its_defect(script: Path, tmp_path: Path) -> None:
    pytest.importorskip("numpy", reason="PyTorch's checkpoints need numpy")
    if "hf_storage" in script.read_text(encoding="utf-8"):
        need_format("hf_sharded")
    ended = defects.run(script, tmp_path)
    assert ended.returncode in ((1,) if shows_here(script) else (0, 1)), ended.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_each_script_stands_alone_and_is_short(script: Path) -> None:
    assert len(script.read_text(encoding="utf-8").splitlines()) <= 80
    assert defects.imports(script) <= {"torch"}


def test_the_page_tells_of_each_script_and_of_no_other() -> None:
    assert defects.told(FOLDER) == {script.name for script in SCRIPTS}
