"""Megatron-FSDP under adamant's scenarios: right, and each planted fault is found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
from adamant_megatron_fsdp import AsItIs, MegatronFsdpEngine
from adamant_pytest.plans import engine_argument
from adamant_pytest.program import Program
from tests import wrong

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_megatron_fsdp" / "known"
WORLDS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"
MAIN = HERE / "scenarios" / "main_weights.yaml"
PATIENCE = 140  # seconds, on a machine that has other work
ENGINE = re.compile(r"^engine: \{name: \w+(.*)\}$", re.MULTILINE)
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


def laws(
    request: pytest.FixtureRequest, engine: type[Any], scenario: Path, folder: Path, options: str
) -> set[str]:
    """Return the laws that an engine breaks in a scenario, with these options or its own."""
    text = scenario.read_text(encoding="utf-8")
    found = ENGINE.search(text)
    more = f", options: {{{options}}}" if options or found is None else found[1]
    named = f"engine: {{name: {engine_argument(engine)!r}{more}}}\n".replace("'\\''", "''")
    copy = folder / scenario.name
    copy.write_text(ENGINE.sub("", text) + named, encoding="utf-8")
    answer = Program.find(request.config).call(
        "run", str(copy), "--trust", "--peer-timeout", str(PATIENCE)
    )
    assert answer.results, answer.complaints
    assert answer.results[0]["outcome"] in ("pass", "violated"), answer.results[0]
    return {each["law"] for each in answer.results[0]["violations"]}


@pytest.mark.parametrize("options", WAYS)
@pytest.mark.parametrize("scenario", [WORLDS, MAIN], ids=lambda path: path.stem)
def test_scenarios_pass_with_each_option(
    request: pytest.FixtureRequest, tmp_path: Path, scenario: Path, options: str
) -> None:
    assert laws(request, MegatronFsdpEngine, scenario, tmp_path, options) == set()


@pytest.mark.parametrize(
    ("engine", "scenario", "law"),
    [
        (wrong.NoBiasCorrectionOnRankOne, WORLDS, "values.interval"),
        (wrong.StaleStepAfterLoad, WORLDS, "checkpoint.roundtrip"),
        (wrong.ModelNotRefreshed, MAIN, "values.bitwise"),
        (wrong.NotReduced, WORLDS, "values.bitwise"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, tmp_path: Path, engine: type[Any], scenario: Path, law: str
) -> None:
    assert law in laws(request, engine, scenario, tmp_path, "")


@pytest.mark.parametrize("name", AVOID)
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, tmp_path: Path, name: str
) -> None:
    scenario = KNOWN / f"{name}.yaml"
    engine = MegatronFsdpEngine if AVOID[name] else AsItIs
    assert laws(request, engine, scenario, tmp_path, "")
    assert laws(request, MegatronFsdpEngine, scenario, tmp_path, AVOID[name]) == set()


def test_there_are_no_other_known_scenarios() -> None:
    assert {path.stem for path in KNOWN.glob("*.yaml")} == {*AVOID, "known"}
