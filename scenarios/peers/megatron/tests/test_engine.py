"""Megatron-core under adamant's scenarios: right where it is right, and each fault is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import adamant_pytest as adamant
import faults
from adamant_megatron import Engine, Hybrid
from adapters import PATIENCE, laws, show_and_are_avoided

HERE = Path(__file__).parent
KNOWN = HERE.parent / "adamant_megatron" / "known"
STEPS = HERE / "scenarios" / "worlds_and_checkpoints.yaml"

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
    "no_state_on_a_rank_without_parameters.yaml": STATES,
    "one_step_for_all.yaml": "",
    "one_step_for_all_in_a_load.yaml": "",
    "one_step_for_two_ranks_in_bf16.yaml": "",
}
OF_ENGINE = {
    "later_buckets_are_moved_in_fp32.yaml": BUCKETS,
    "one_step_for_two_ranks.yaml": "",
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


@pytest.mark.parametrize(
    ("engine", "files"),
    [(Engine, OF_BOTH | OF_ENGINE), (Hybrid, OF_BOTH | OF_HYBRID)],
    ids=["engine", "hybrid"],
)
def test_each_known_defect_shows_and_is_avoided(
    request: pytest.FixtureRequest, engine: type[Any], files: dict[str, str]
) -> None:
    scenarios = {KNOWN / name: avoid for name, avoid in files.items()}
    show_and_are_avoided(request, engine, scenarios)


def test_there_are_no_other_known_scenarios() -> None:
    found = {path.relative_to(KNOWN).as_posix() for path in KNOWN.rglob("*.yaml")}
    assert found - {"known.yaml", "hybrid/known.yaml"} == {*OF_BOTH, *OF_ENGINE, *OF_HYBRID}


@pytest.mark.parametrize(
    ("fault", "law"),
    [
        (faults.NoBiasCorrectionOnRankOne, "values.interval"),
        (faults.StaleStepAfterLoad, "checkpoint.roundtrip"),
        (faults.NoGather, "values.bitwise"),
        (faults.NotWaitedFor, "values.bitwise"),
    ],
)
def test_a_fault_is_seen(request: pytest.FixtureRequest, fault: type[Any], law: str) -> None:
    assert law in laws(request, fault, STEPS)


@adamant.fuzz(engine=Engine, cases=20, seed=3, peer_timeout=PATIENCE)
def test_search() -> None: ...


@adamant.fuzz(engine=Hybrid, cases=20, seed=4, peer_timeout=PATIENCE)
def test_search_with_the_offload() -> None: ...
