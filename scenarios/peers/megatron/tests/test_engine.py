"""Megatron-core under adamant's scenarios: right where it is right, and each fault is found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
from adamant_megatron import Engine, Hybrid
from adamant_pytest.plans import engine_argument
from adamant_pytest.program import Answer, Program
from tests import faulty

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_megatron" / "known"
STEPS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"
PATIENCE = 120  # seconds, on a machine that has other work
ENGINE = re.compile(r"^engine: \{name: \w+(?:, options: \{(.*)\})?\}$", re.MULTILINE)

BUCKETS, GROUPS, STATES = "buckets: one", "groups: multiplied", "states: mended"
NAN = "nan_norm: clips"
OF_BOTH = {  # each with the options that avoid what it shows, if there are any
    "groups_are_mixed_up.yaml": GROUPS,
    "later_buckets_are_moved.yaml": BUCKETS,
    "later_buckets_are_moved_before_a_step.yaml": BUCKETS,
    "load_wants_a_step_counter.yaml": STATES,
    "nan_clips_nothing_in_a_step.yaml": NAN,
    "nan_clips_nothing_without_a_scale.yaml": NAN,
    "no_state_before_the_first_step.yaml": STATES,
    "no_state_before_the_first_step_in_a_load.yaml": STATES,
    "one_step_for_all.yaml": None,
    "one_step_for_all_in_a_load.yaml": None,
    "one_step_for_two_ranks_in_bf16.yaml": None,
}
OF_ENGINE = {
    "later_buckets_are_moved_in_fp32.yaml": BUCKETS,
    "one_step_for_two_ranks.yaml": None,
}
OF_HYBRID = {
    "hybrid/loads_no_fp32_parameters.yaml": 'precision_aware: "true"',
    "hybrid/stale_gradient.yaml": "old_gradients: dropped",
}


@adamant.scenarios("scenarios", engine=Engine, peer_timeout=PATIENCE)
def test_scenarios() -> None: ...


@adamant.scenarios("scenarios", engine=Hybrid, peer_timeout=PATIENCE)
def test_scenarios_with_the_offload() -> None: ...


@adamant.scenarios("hybrid", engine=Hybrid, peer_timeout=PATIENCE)
def test_the_offload_alone() -> None: ...


def run(
    request: pytest.FixtureRequest,
    engine: type[Any],
    scenarios: Mapping[Path, str | None],
    folder: Path,
) -> Answer:
    """Run scenarios on an engine, each with these options, or with its own where there are none."""
    named = f'"{engine_argument(engine)}"'
    copies = []
    for path, options in scenarios.items():
        text = path.read_text(encoding="utf-8")
        found = ENGINE.search(text)
        chosen = options or (found[1] if found else None) or ""
        copy = folder / path.name
        copy.write_text(
            f"{ENGINE.sub('', text)}\nengine: {{name: {named}, options: {{{chosen}}}}}\n",
            encoding="utf-8",
        )
        copies.append(str(copy))
    call = ["run", *copies, "--trust", "--jobs", "1", "--peer-timeout", str(PATIENCE)]
    answer = Program.find(request.config).call(*call)
    assert len(answer.results) == len(copies), answer.complaints
    return answer


def laws(answer: Answer) -> set[str]:
    """Return the laws that were broken."""
    return {each["law"] for result in answer.results for each in result["violations"]}


@pytest.mark.parametrize(
    ("engine", "files"),
    [(Engine, OF_BOTH | OF_ENGINE), (Hybrid, OF_BOTH | OF_HYBRID)],
    ids=["engine", "hybrid"],
)
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, tmp_path: Path, engine: type[Any], files: dict[str, str | None]
) -> None:
    shown = run(request, engine, {KNOWN / name: None for name in files}, tmp_path)
    assert shown.status == 0, shown.out  # each ends as it expects
    avoided = {KNOWN / name: avoid for name, avoid in files.items() if avoid}
    assert laws(run(request, engine, avoided, tmp_path)) == set()


def test_there_are_no_other_known_scenarios() -> None:
    found = {path.relative_to(KNOWN).as_posix() for path in KNOWN.rglob("*.yaml")}
    assert found - {"known.yaml", "hybrid/known.yaml"} == {*OF_BOTH, *OF_ENGINE, *OF_HYBRID}


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (faulty.NoCorrectionOnRankOne, "values.bitwise"),
        (faulty.ForgetsSteps, "checkpoint.roundtrip"),
        (faulty.NoGather, "values.bitwise"),
        (faulty.NotWaitedFor, "values.bitwise"),
    ],
)
def test_a_fault_is_seen(
    request: pytest.FixtureRequest, tmp_path: Path, fault: type[Any], law: str
) -> None:
    assert law in laws(run(request, fault, {STEPS: None}, tmp_path))


@adamant.fuzz(engine=Engine, cases=20, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@adamant.fuzz(engine=Hybrid, cases=20, seed=4, peer_timeout=PATIENCE)
def test_search_with_the_offload() -> None: ...
