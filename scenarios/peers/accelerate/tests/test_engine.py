"""accelerate under adamant's scenarios: right, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
import faults
from adamant_accelerate import AccelerateEngine
from adamant_torch import engine as engine_module
from adapters import CLIPPED, OVER_FSDP2, PATIENCE, WORLDS, laws, show_and_are_avoided

KNOWN = Path(__file__).parent.parent / "adamant_accelerate" / "known"
OF_PYTORCH = Path(engine_module.OF_PYTORCH).parent
MADE, SINGLE = "missing_states: made", "implementation: single"
ONCE = "accumulate: '1'"


@adamant.scenarios(str(OVER_FSDP2), engine=AccelerateEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.fuzz(engine=AccelerateEngine, cases=60, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@pytest.mark.parametrize(
    ("engine", "scenario", "options", "law"),
    [
        (faults.NoBiasCorrectionOnRankOne, WORLDS, "", "values.interval"),
        (faults.StaleStepAfterLoad, WORLDS, "", "checkpoint.roundtrip"),
        (faults.StaleRateAfterLoad, WORLDS, "", "checkpoint.roundtrip"),
        (faults.DropsAnAccumulatedBackward, WORLDS, "accumulate: '2'", "values.bitwise"),
        (faults.ClipsByItsOwnNorm, CLIPPED, "", "values.interval"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, engine: type[Any], scenario: Path, options: str, law: str
) -> None:
    assert law in laws(request, engine, scenario, options)


OWN = {
    "state_dict_before_first_step.yaml": MADE,
    "state_dict_makes_nan.yaml": MADE,
    "checkpoint_without_a_gradient.yaml": MADE,
    "unused_unit_in_2_backwards.yaml": ONCE,
    "unused_unit_in_4_backwards.yaml": ONCE,
}
BELOW = {  # PyTorch's own
    "foreach_rounds_beta2.yaml": SINGLE,
    "foreach_rounds_decay.yaml": SINGLE,
    "fused_depends_on_world.yaml": SINGLE,
}


@pytest.mark.parametrize(("folder", "files"), [(KNOWN, OWN), (OF_PYTORCH, BELOW)])
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, folder: Path, files: dict[str, str]
) -> None:
    scenarios = {folder / name: avoid for name, avoid in files.items()}
    show_and_are_avoided(request, AccelerateEngine, scenarios)


def test_there_are_no_other_known_scenarios() -> None:
    assert {path.name for path in KNOWN.glob("*.yaml")} == {*OWN, "known.yaml"}
