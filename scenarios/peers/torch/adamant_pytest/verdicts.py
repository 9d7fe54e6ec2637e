"""What a test came to: nothing, a failure in words, or a reason to skip it.

Knows what the program's answers mean, and nothing of pytest's hooks.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adamant_pytest.plans import Fuzz, Plan, SetupError
from adamant_pytest.program import Answer, Program, Status

# Reasons that say what an engine or a machine has not, rather than what went wrong.
LACKING = ("unsupported", "scalar_parameter", "out_of_memory")


@dataclass(frozen=True)
class Verdict:
    """How a test ends: it passes where all are empty."""

    failure: str = ""
    summary: str = ""  # the failure in one line
    lacking: str = ""
    obstacle: str = ""  # something around the engine is wrong: an error


@dataclass(frozen=True)
class Tried:
    """One test's engine, the program that tries it, and where its findings go."""

    program: Program
    plan: Plan
    findings: Path
    test: str  # the node whose findings these are, without a file's name in brackets
    workers: int = 0  # of the program; 0 for as many as there are processors

    def run(self, file: Path) -> Verdict:
        """Run one scenario; minimise it if it does not end as it expects."""
        self._forget()
        answer = self._call("run", str(file))
        if not answer.results or answer.results[0].get("reason") == "cannot be read":
            raise SetupError(self._setup(answer))
        result = answer.results[0]
        if result["met"]:
            return Verdict()
        if lacks(result):
            return Verdict(lacking=answer.complaints or result["message"])
        return failed(answer, self._minimised(file, answer))

    def replay(self, file: Path) -> Verdict:
        """Run what was found before: it passes once no law is broken any more."""
        answer = self._plainly(file, self._call)
        if not answer.results:
            raise SetupError(self._setup(answer))
        if answer.results[0]["met"]:
            return Verdict()
        return failed(answer, self._failure(answer, [file]))

    def fuzz(self) -> Verdict:
        """Draw scenarios; what breaks a law comes minimised."""
        assert isinstance(self.plan, Fuzz)
        self._forget()
        seed = [] if self.plan.seed is None else ["--seed", str(self.plan.seed)]
        answer = self._call(
            "fuzz", "--cases", str(self.plan.cases), *seed, "--out", str(self.findings)
        )
        if answer.status == Status.MET:
            return Verdict()
        if not answer.results:
            raise SetupError(self._setup(answer))
        return failed(answer, self._failure(answer, sorted(self.findings.glob("*.yaml"))))

    def _call(self, command: str, *arguments: str) -> Answer:
        jobs = ["--jobs", str(self.workers)] if self.workers else []
        answer = self.program.call(command, *arguments, *self.plan.options(), *jobs)
        if answer.status == Status.LACKING and self.plan.is_of_adamant:
            raise LackingError(answer.complaints)
        return answer

    def _minimised(self, file: Path, wrong: Answer) -> str:
        """Return what failed in words, with a small scenario that fails alike, and its script."""
        self.findings.mkdir(parents=True, exist_ok=True)
        small = self.findings / f"{file.stem}.yaml"
        script = small.with_suffix(".py")
        arguments = [str(file), "--seed", str(wrong.results[0]["seed"]), "-o", str(small)]
        answer = self._call("minimize", *arguments, "--script", str(script))
        files = [small] if small.exists() else []
        return self._failure(wrong, files, answer.complaints)

    def _failure(self, answer: Answer, found: list[Path], remark: str = "") -> str:
        compared = [self._compared(file) for file in found]  # may write a script, which is shown
        replays = [f"replay: pytest '{self.test}' --adamant-replay {file}" for file in found]
        findings = [f"{shown(file)}{note}" for file, note in zip(found, compared, strict=True)]
        if any(file.with_suffix(".py").exists() for file in found):
            remark = ""  # says why there is none, and what is in its place
        parts = [answer.out.strip(), answer.complaints, *findings, remark, *replays]
        return "\n\n".join(part for part in parts if part)

    def _compared(self, file: Path) -> str:
        """Return what PyTorch's own engine makes of what a class of the user's failed with.

        Where it fails alike nothing of the user's is to blame, and there is a script for it.
        """
        if isinstance(self.plan.engine, str):
            return ""
        script = str(file.with_suffix(".py"))
        answer = self._plainly(file, self._call_pytorch, "--script", script)
        return f"\n\nPyTorch's own FSDP2 engine {what_came_of(answer)}"

    def _call_pytorch(self, command: str, *arguments: str) -> Answer:
        return self.program.call(command, *arguments, *self.plan.options("torch"))

    def _plainly(self, file: Path, call: Callable[..., Answer], *options: str) -> Answer:
        """Return what comes of a scenario that expects to pass, whatever it expected before."""
        with TemporaryDirectory(prefix="adamant-pytest-") as folder:
            scenario = Path(folder) / file.name
            scenario.write_text(without_expectation(file.read_text()))
            return call("run", str(scenario), *options)

    def _setup(self, answer: Answer) -> str:
        said = answer.complaints or answer.out.strip()
        return f"adamant ended with exit status {answer.status}: {said}"

    def _forget(self) -> None:
        shutil.rmtree(self.findings, ignore_errors=True)


class LackingError(Exception):
    """The machine has not what the engine needs."""


def lacks(result: dict[str, Any]) -> bool:
    """Return whether a scenario was refused because the engine or the machine cannot do it."""
    reason = str(result.get("reason", "")).partition(".")[0]
    return result["outcome"] == "refused" and reason in LACKING


def failed(answer: Answer, failure: str) -> Verdict:
    """Return a failure, in one line as well: what went wrong, of each scenario that failed."""
    causes = [cause(result) for result in answer.results if not result["met"]]
    return Verdict(failure=failure, summary="; ".join(causes))


def cause(result: dict[str, Any]) -> str:
    """Return the laws that a scenario broke, or the reason for which it ended otherwise."""
    laws = sorted({violation["law"] for violation in result.get("violations", [])})
    why = result.get("reason") or result.get("message") or result["outcome"]
    return ", ".join(laws) or str(why)


def what_came_of(answer: Answer) -> str:
    """Return in words how one scenario ended, as it is said of an engine."""
    if not answer.results:
        return f"could not be asked: {answer.complaints or answer.out.strip()}"
    result = answer.results[0]
    if result["met"]:
        return "passes this scenario"
    ending = "refuses this scenario" if result["outcome"] == "refused" else "also fails"
    return f"{ending}: {cause(result)}"


def without_expectation(scenario: str) -> str:
    """Return a scenario that expects to pass."""
    return re.sub(r"(?m)^expect:.*\n?(?:[ \t]+\S.*\n?)*", "", scenario)


def shown(file: Path) -> str:
    """Return a scenario that was found, and its script or session, to be read in a report."""
    text = re.sub(r"\A(?:#.*\n|\n)*", "", file.read_text())  # the report has said that
    parts = [f"minimised: {file}", text.rstrip()]
    script = file.with_suffix(".py")
    session = script.with_name(script.name + ".session.json")
    if session.exists():
        parts += ["", f"session: {session}"]
    elif script.exists():
        parts += ["", f"script: {script}", script.read_text().rstrip()]
    return "\n".join(parts)
