"""torchtitan under adamant's scenarios: right, and each planted fault is found."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
from adamant_pytest.plans import engine_argument
from adamant_pytest.program import Program
from adamant_torch import hello
from adamant_torchtitan import TorchtitanEngine
from tests import wrong

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_torchtitan" / "known"
STEPS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"
PATIENCE = 120  # seconds, on a machine that has other work
MADE = "missing_states: made"
ENGINE = re.compile(r"^engine: \{name: \w+(.*)\}$", re.MULTILINE)
OF_PYTORCH = hello.KNOWN.parent


@adamant.scenarios("scenarios", engine=TorchtitanEngine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.fuzz(engine=TorchtitanEngine, cases=60, seed=3, peer_timeout=PATIENCE)
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


@pytest.mark.parametrize(
    ("engine", "law"),
    [
        (wrong.NoBiasCorrectionOnRankOne, "values.interval"),
        (wrong.StaleStepAfterLoad, "checkpoint.roundtrip"),
        (wrong.SavesFirstWeights, "checkpoint.roundtrip"),
    ],
)
def test_a_planted_fault_is_found(
    request: pytest.FixtureRequest, tmp_path: Path, engine: type[Any], law: str
) -> None:
    assert law in laws(request, engine, STEPS, tmp_path, "")


@pytest.mark.parametrize(
    ("scenario", "law", "around"),
    [
        ("state_dict_before_first_step.yaml", "values.bitwise", MADE),
        ("state_dict_makes_nan.yaml", "values.bitwise", MADE),
        ("checkpoint_without_a_gradient.yaml", "checkpoint.roundtrip", MADE),
        ("foreach_rounds_beta2.yaml", "values.interval", "implementation: for-loop"),
        ("foreach_rounds_decay.yaml", "values.interval", "implementation: for-loop"),
        ("fused_depends_on_world.yaml", "runs.worlds", "implementation: for-loop"),
    ],
)
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, tmp_path: Path, scenario: str, law: str, around: str
) -> None:
    file = next(path for path in (KNOWN / scenario, OF_PYTORCH / scenario) if path.exists())
    assert law in laws(request, TorchtitanEngine, file, tmp_path, "")
    assert laws(request, TorchtitanEngine, file, tmp_path, around) == set()


def test_there_are_no_other_known_scenarios() -> None:
    assert len([path for path in KNOWN.glob("*.yaml") if path.name != "known.yaml"]) == 3
