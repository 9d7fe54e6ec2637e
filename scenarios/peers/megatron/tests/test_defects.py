"""What is known of Megatron-core has scripts that show it, made of scenarios or by hand."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from adamant_torch import defects

FOLDER = Path(__file__).parent.parent
KNOWN = defects.all_known(FOLDER / "adamant_megatron")
BY_HAND = defects.by_hand(FOLDER)


@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.name)
def test_a_script_of_each_cause_shows_it(cause: defects.Known, tmp_path: Path) -> None:
    defects.script_must_show(cause, tmp_path, "megatron-core")


@pytest.mark.skipif(version("megatron-core") != "0.16.1", reason="they were seen in 0.16.1")
@pytest.mark.parametrize("script", BY_HAND, ids=lambda script: script.stem)
def test_a_script_by_hand_shows_its_defect(script: Path, tmp_path: Path) -> None:
    defects.must_show(script, tmp_path)
