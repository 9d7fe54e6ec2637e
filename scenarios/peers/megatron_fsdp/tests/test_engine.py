"""Megatron-FSDP under adamant's scenarios: right, and each planted fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
import faults
from adamant_megatron_fsdp import AsItIs, MegatronFsdpEngine
from adapters import PATIENCE, laws

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_megatron_fsdp" / "known"
WORLDS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"
MAIN = HERE / "scenarios" / "main_weights.yaml"
WAYS = [
    "zero: optim_grads",
    "zero: optim",
    "outer: optim",
    "main_weights: shared",
    "units: one",
]
AVOID = {
    "first_step_counts": "",
    "first_step_decays": "",
    "rows_are_cut": "cut_rows: avoided",
    "missing_gradient_is_zero": "missing_gradients: dropped",
    "first_group_is_empty": "empty_groups: dropped",
}


@adamant.scenarios("scenarios", engine=MegatronFsdpEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.fuzz(engine=MegatronFsdpEngine, cases=30, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("scenario", [WORLDS, MAIN], ids=lambda path: path.stem)
def test_scenarios_pass_with_each_option(
    request: pytest.FixtureRequest, scenario: Path, options: str
) -> None:
    assert laws(request, MegatronFsdpEngine, scenario, options) == set()


@pytest.mark.parametrize(
    ("engine", "scenario", "law"),
    [
        (faults.NoBiasCorrectionOnRankOne, WORLDS, "values.interval"),
        (faults.StaleStepAfterLoad, WORLDS, "checkpoint.roundtrip"),
        (faults.ModelNotRefreshed, MAIN, "values.bitwise"),
        (faults.NotReduced, WORLDS, "values.bitwise"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, engine: type[Any], scenario: Path, law: str
) -> None:
    assert law in laws(request, engine, scenario)


@pytest.mark.parametrize("name", AVOID)
def test_each_known_defect_shows_and_is_avoided(request: pytest.FixtureRequest, name: str) -> None:
    scenario = KNOWN / f"{name}.yaml"
    engine = MegatronFsdpEngine if AVOID[name] else AsItIs
    assert laws(request, engine, scenario)
    assert laws(request, MegatronFsdpEngine, scenario, AVOID[name]) == set()


def test_there_are_no_other_known_scenarios() -> None:
    assert {path.stem for path in KNOWN.glob("*.yaml")} == {*AVOID, "known"}
