"""torchtitan under adamant's scenarios: right, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
import faults
from adamant_torch import engine as engine_module
from adamant_torchtitan import TorchtitanEngine
from adapters import OVER_FSDP2, PATIENCE, WORLDS, laws, show_and_are_avoided

KNOWN = Path(__file__).parent.parent / "adamant_torchtitan" / "known"
OF_PYTORCH = Path(engine_module.OF_PYTORCH).parent
MADE, LOOP = "missing_states: made", "implementation: for-loop"


@adamant.scenarios(str(OVER_FSDP2), engine=TorchtitanEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.fuzz(engine=TorchtitanEngine, cases=60, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@pytest.mark.parametrize(
    ("engine", "law"),
    [
        (faults.NoBiasCorrectionOnRankOne, "values.interval"),
        (faults.StaleStepAfterLoad, "checkpoint.roundtrip"),
        (faults.SavesFirstWeights, "checkpoint.roundtrip"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, engine: type[Any], law: str
) -> None:
    assert law in laws(request, engine, WORLDS)


OWN = {
    "state_dict_before_first_step.yaml": MADE,
    "state_dict_makes_nan.yaml": MADE,
    "checkpoint_without_a_gradient.yaml": MADE,
}
BELOW = {  # PyTorch's own
    "foreach_rounds_beta2.yaml": LOOP,
    "foreach_rounds_decay.yaml": LOOP,
    "fused_depends_on_world.yaml": LOOP,
}


@pytest.mark.parametrize(("folder", "files"), [(KNOWN, OWN), (OF_PYTORCH, BELOW)])
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, folder: Path, files: dict[str, str]
) -> None:
    scenarios = {folder / name: avoid for name, avoid in files.items()}
    show_and_are_avoided(request, TorchtitanEngine, scenarios)


def test_there_are_no_other_known_scenarios() -> None:
    assert {path.name for path in KNOWN.glob("*.yaml")} == {*OWN, "known.yaml"}
