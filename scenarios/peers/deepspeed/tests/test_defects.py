"""What is known of DeepSpeed has scripts that show it, made of scenarios or by hand."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from adamant_deepspeed import surroundings
from adamant_torch import defects

FOLDER = Path(__file__).parent.parent
KNOWN = defects.all_known(FOLDER / "adamant_deepspeed")
BY_HAND = defects.by_hand(FOLDER)


@pytest.mark.parametrize("cause", KNOWN, ids=lambda cause: cause.name)
def test_a_script_of_each_cause_shows_it(cause: defects.Known, tmp_path: Path) -> None:
    scenario = (cause.folder / cause.shown_by[0]).read_text(encoding="utf-8")
    if "optimizer: cpu_adam" in scenario and not surroundings.library().exists():
        pytest.skip("CPU Adam is not compiled: python -m adamant_deepspeed.build")
    defects.script_must_show(cause, tmp_path, "deepspeed")


@pytest.mark.skipif(version("deepspeed") != "0.19.8", reason="they were seen in 0.19.8")
@pytest.mark.parametrize("script", BY_HAND, ids=lambda script: script.stem)
def test_a_script_by_hand_shows_its_defect(script: Path, tmp_path: Path) -> None:
    defects.must_show(script, tmp_path)
