"""What tests of adapters share: scenarios run on an engine, and the laws that it breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from adamant_pytest.plans import EngineUnderTest, engine_argument
from adamant_pytest.program import Answer, Program

PATIENCE = 140  # seconds, on a machine that has other work
OVER_FSDP2 = Path(__file__).parent / "over_fsdp2"  # what engines over PyTorch's FSDP2 pass
WORLDS = OVER_FSDP2 / "worlds_and_checkpoints.yaml"
CLIPPED = OVER_FSDP2 / "main_weights_clipped.yaml"
ENGINE = re.compile(r"^engine: \{name: \w+(?:, options: \{(.*)\})?\}$", re.MULTILINE)


def run(
    request: pytest.FixtureRequest, engine: EngineUnderTest, scenarios: Mapping[Path, str]
) -> Answer:
    """Run scenarios on an engine, each with these options, or with its own where there are none."""
    folder: Path = request.getfixturevalue("tmp_path")
    copies = []
    for path, options in scenarios.items():
        text = path.read_text(encoding="utf-8")
        own = ENGINE.search(text)
        chosen = options or (own and own[1]) or ""
        named = f"{{name: {json.dumps(engine_argument(engine))}, options: {{{chosen}}}}}"
        copy = folder / path.name
        copy.write_text(f"{ENGINE.sub('', text)}\nengine: {named}\n", encoding="utf-8")
        copies.append(str(copy))
    call = ["run", *copies, "--trust", "--jobs", "1", "--peer-timeout", str(PATIENCE)]
    answer = Program.find(request.config).call(*call)
    assert len(answer.results) == len(copies), answer.complaints
    assert {result["outcome"] for result in answer.results} <= {"pass", "violated"}, answer.out
    return answer


def broken(answer: Answer) -> set[str]:
    """Return the laws that were broken."""
    return {each["law"] for result in answer.results for each in result["violations"]}


def laws(
    request: pytest.FixtureRequest, engine: EngineUnderTest, scenario: Path, options: str = ""
) -> set[str]:
    """Return the laws that an engine breaks in a scenario, with these options or its own."""
    return broken(run(request, engine, {scenario: options}))


def show_and_are_avoided(
    request: pytest.FixtureRequest, engine: EngineUnderTest, scenarios: Mapping[Path, str]
) -> None:
    """Assert that each breaks the law that it expects, and none with the options that avoid it."""
    shown = run(request, engine, dict.fromkeys(scenarios, ""))
    assert shown.status == 0, shown.out
    avoided = {path: avoid for path, avoid in scenarios.items() if avoid}
    assert broken(run(request, engine, avoided)) == set()
