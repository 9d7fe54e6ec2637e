"""torchao under adamant's scenarios: right where it is right, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
import faults
from adamant_torchao import AsShippedEngine, CompiledEngine, TorchaoEngine
from adapters import OVER_FSDP2, PATIENCE, WORLDS, laws

KNOWN = Path(__file__).parent.parent / "adamant_torchao" / "known"


@adamant.scenarios(str(OVER_FSDP2), engine=TorchaoEngine, peer_timeout=PATIENCE)
def test_scenarios_over_fsdp2() -> None: ...


@adamant.scenarios("scenarios", engine=TorchaoEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.scenarios("compiled", engine=CompiledEngine, peer_timeout=2 * PATIENCE)
def test_the_compiled_step_is_as_right() -> None: ...


@adamant.fuzz(engine=TorchaoEngine, cases=60, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@pytest.mark.parametrize(
    ("engine", "law"),
    [
        (faults.NoBiasCorrectionOnRankOne, "values.interval"),
        (faults.StaleStepAfterLoad, "checkpoint.roundtrip"),
        (faults.RatesDoNotFollow, "values.bitwise"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, engine: type[Any], law: str
) -> None:
    assert law in laws(request, engine, WORLDS)


@pytest.mark.parametrize(
    ("engine", "scenario", "law"),
    [
        (TorchaoEngine, "states_do_not_reshard.yaml", "checkpoint.roundtrip"),
        (TorchaoEngine, "bf16_weights_do_not_step.yaml", "error.clean"),
        (AsShippedEngine, "as_shipped/bias_correction_in_fp32.yaml", "values.interval"),
    ],
)
def test_each_known_defect_shows(
    request: pytest.FixtureRequest, engine: type[Any], scenario: str, law: str
) -> None:
    assert laws(request, engine, KNOWN / scenario) == {law}


def test_there_are_no_other_known_scenarios() -> None:
    assert len([path for path in KNOWN.rglob("*.yaml") if path.name != "known.yaml"]) == 3
