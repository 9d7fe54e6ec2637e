"""adamant's scenarios as tests of pytest: a test names an engine, and what it is tried with.

    import adamant_pytest as adamant

    @adamant.scenarios("scenarios", engine=MyEngine)  # one test a file
    def test_scenarios() -> None: ...

    @adamant.fuzz(engine=MyEngine, cases=200, seed=1)
    def test_search() -> None: ...

Nothing here imports PyTorch: pytest loads its plugins before it knows which tests there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

import pytest

from adamant_pytest.plans import EngineUnderTest, Fuzz, Plan, Scenarios

__all__ = ["fuzz", "scenarios"]

Test = TypeVar("Test", bound=Callable[..., object])


def scenarios(
    folder: str | os.PathLike[str],
    *,
    engine: EngineUnderTest,
    peer_timeout: int | None = None,
) -> Callable[[Test], Test]:
    """Make one test of each scenario file in `folder`, which is relative to the test's file.

    `engine` is a subclass of `adamant_torch.Engine`, or what `adamant --engine` takes. The body
    of the test runs after its scenario ended as it should. `peer_timeout` is the longest wait for
    the engine, in seconds.
    """
    return _marked(Scenarios(engine=engine, peer_timeout=peer_timeout, folder=os.fspath(folder)))


def fuzz(
    *,
    engine: EngineUnderTest,
    cases: int = 200,
    seed: int | None = None,
    peer_timeout: int | None = None,
) -> Callable[[Test], Test]:
    """Make a test that draws `cases` scenarios and fails with what breaks a law, minimised.

    Without `seed` each run draws another one. The rest is as `scenarios` has it.
    """
    return _marked(Fuzz(engine=engine, peer_timeout=peer_timeout, cases=cases, seed=seed))


def _marked(plan: Plan) -> Callable[[Test], Test]:
    def mark(test: Test) -> Test:
        asks: Test = pytest.mark.usefixtures("adamant_verdict")(test)
        marked: Test = pytest.mark.adamant(plan)(asks)
        return marked

    return mark
