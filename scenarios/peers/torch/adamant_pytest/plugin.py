"""The hooks: marked tests become one for each scenario, run in their set-up, and fail in words.

The program runs while a test is set up, so that what keeps it from running is an error, and only
what is wrong with the engine is a failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest

from adamant_pytest.plans import Case, Plan, Scenarios, SetupError
from adamant_pytest.program import Program
from adamant_pytest.verdicts import LackingError, Tried, Verdict


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("adamant", "adamant: scenarios for sharded optimizers")
    program = "the program `adamant`; else ADAMANT, adamant_program, or what PATH has"
    group.addoption("--adamant-program", metavar="PATH", help=program)
    group.addoption(
        "--adamant-out",
        metavar="DIR",
        help="where minimised scenarios and scripts go; default: pytest's cache",
    )
    group.addoption(
        "--adamant-replay",
        metavar="FILE|TEST",
        help="repeat what was found: a scenario, with the engine of each selected test, or all "
        "that the named test found last",
    )
    parser.addini("adamant_program", "the program `adamant`; relative to the root directory")


def pytest_configure(config: pytest.Config) -> None:
    """Say what the mark is for."""
    config.addinivalue_line(
        "markers", "adamant(plan): scenarios for an engine; made by adamant_pytest"
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test of each scenario."""
    plan = plan_of(metafunc.definition)
    if plan is None:
        return
    try:
        cases = cases_of(metafunc.definition, plan)
        problem = ""
    except SetupError as error:
        problem = str(error)
    if problem:
        pytest.fail(problem, pytrace=False)
    if cases is not None:
        names = [case.name for case in cases]
        metafunc.parametrize("adamant_verdict", cases, ids=names, indirect=True)


def cases_of(test: pytest.Item, plan: Plan) -> list[Case] | None:
    """Return the scenarios of a test; None where it draws them."""
    if test.config.getoption("adamant_replay"):
        return found_before(test)
    return plan.cases(test.path) if isinstance(plan, Scenarios) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep nothing but replays where one is asked for."""
    if not config.getoption("adamant_replay"):
        return
    kept = [item for item in items if is_replay(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_replay(item)])
    items[:] = kept


@pytest.fixture
def adamant_verdict(request: pytest.FixtureRequest) -> Verdict:
    """Run the program on the test's scenario, or let it search, and return what came of it."""
    verdict = verdict_on(request.node, getattr(request, "param", None))
    if verdict.obstacle:
        pytest.fail(verdict.obstacle, pytrace=False)
    if verdict.lacking:
        pytest.skip(verdict.lacking)
    return verdict


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Fail by what was found, before the test's body would run."""
    verdict = pyfuncitem.funcargs.get("adamant_verdict")
    if isinstance(verdict, Verdict) and verdict.failure:
        pytest.fail(verdict.failure, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Sum a failure up in one line: in CI pytest repeats the whole message in its summary."""
    report = yield
    verdict = item.funcargs.get("adamant_verdict") if isinstance(item, pytest.Function) else None
    crash = getattr(report.longrepr, "reprcrash", None)
    if call.when == "call" and isinstance(verdict, Verdict) and verdict.failure and crash:
        crash.message = verdict.summary
    return report


def verdict_on(node: pytest.Item, case: Case | None) -> Verdict:
    """Return what comes of a case, or of a search."""
    try:
        tried = tried_by(node, case)
        if case is None:
            return tried.fuzz()
        return tried.replay(case.file) if case.found else tried.run(case.file)
    except SetupError as error:
        return Verdict(obstacle=str(error))
    except LackingError as error:
        return Verdict(lacking=str(error))


def plan_of(node: pytest.Item) -> Plan | None:
    """Return what a test is marked with."""
    mark = node.get_closest_marker("adamant")
    plan = mark.args[0] if mark is not None and mark.args else None
    return plan if isinstance(plan, Plan) else None


def tried_by(node: pytest.Item, case: Case | None) -> Tried:
    """Return what a test tries."""
    plan = plan_of(node)
    if plan is None:
        raise SetupError("adamant_verdict: the test is made by adamant_pytest.scenarios or fuzz")
    test = node.nodeid.partition("[")[0]
    findings = findings_of(node.config, test)
    if case is not None:
        findings = findings / plain(os.path.splitext(case.name)[0])
    return Tried(Program.find(node.config), plan, findings, test, workers_here())


def workers_here() -> int:
    """Return how many processors are for this process; 0 for all, where xdist has no others."""
    sharing = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, (os.cpu_count() or 1) // sharing) if sharing > 1 else 0


def findings_of(config: pytest.Config, test: str) -> Path:
    """Return the directory of what a test finds."""
    chosen = config.getoption("adamant_out")
    if chosen:
        return Path(chosen).absolute() / plain(test)
    cache = config.rootpath / ".pytest_cache"
    if config.pluginmanager.has_plugin("cacheprovider"):
        cache = config.rootpath / config.getini("cache_dir")
    return cache / "d" / "adamant" / plain(test)


def plain(name: str) -> str:
    """Return a name that is one part of a path."""
    return re.sub(r"[^\w.-]+", "-", name)


def found_before(test: pytest.Item) -> list[Case]:
    """Return the scenarios that `--adamant-replay` asks this test for."""
    asked = str(test.config.getoption("adamant_replay"))
    if "::" not in asked:
        file = Path(asked).absolute()
        if not file.is_file():
            raise SetupError(f"--adamant-replay: {asked}: there is no such file")
        return [Case(file.name, file, found=True)]
    wanted = asked.partition("[")[0]
    if test.nodeid.partition("[")[0] != wanted:
        return []
    folder = findings_of(test.config, wanted)
    files = sorted(folder.rglob("*.yaml"))
    if not files:
        raise SetupError(f"--adamant-replay: {asked}: it found nothing; looked into {folder}")
    return [Case(file.relative_to(folder).as_posix(), file, found=True) for file in files]


def is_replay(item: pytest.Item) -> bool:
    """Return whether a test repeats what was found."""
    case = item.callspec.params.get("adamant_verdict") if hasattr(item, "callspec") else None
    return isinstance(case, Case) and case.found
