"""One search that is made to end in a certain way, and what it left behind."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from leftovers import MARK, Folders, Roles, Watch, left, sweep

LOOK_SECONDS = 0.25  # between two looks at what runs
INTERRUPT_SECONDS = 30.0  # 2 are promised, on a machine that does nothing else
SEARCH_SECONDS = 1800.0
INTERRUPTED = 130
MACHINE_LACKS = 3  # whose engine did not say hello


@dataclass(frozen=True)
class Ending:
    """Who is sent what, and when: at a random moment, once the search is over, or never."""

    name: str
    victim: str = ""
    signal: signal.Signals = signal.SIGINT
    after_search: bool = False


OWN_END = Ending("its own end")
AFTER_SEARCH = Ending("SIGINT after the search", "program", after_search=True)
ENDINGS = (
    AFTER_SEARCH,
    OWN_END,
    Ending("SIGINT to the process group", "group"),
    Ending("SIGINT to the program", "program"),
    Ending("SIGTERM to the program", "program", signal.SIGTERM),
    Ending("SIGKILL to the program", "program", signal.SIGKILL),
    Ending("SIGKILL to a worker", "worker", signal.SIGKILL),
    Ending("SIGKILL to an engine", "engine", signal.SIGKILL),
    Ending("SIGKILL to a rank", "rank", signal.SIGKILL),
)


@dataclass
class Ended:
    """What became of a search. Its scenarios are unknown where it was killed."""

    ending: Ending = OWN_END
    leaks: list[str] = field(default_factory=list)
    scenarios: int | None = None
    search_seconds: float = 0.0  # until its workers had gone
    ending_seconds: float = 0.0  # from an interrupt to the end


class Search:
    """A search that runs, in a folder of its own. Nothing of it is left after the `with`."""

    def __init__(self, command: list[str], mark: str, has_private_folder: bool) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="leak-campaign-")
        root = Path(self.folder.name)
        self.report = root / "report.json"
        self.errors = root / "errors"
        self.folders = Folders(root / "tmp")
        self.folders.private.mkdir()
        environment = {**os.environ, MARK: mark}
        environment.pop("TMPDIR", None)
        if has_private_folder:
            environment["TMPDIR"] = str(self.folders.private)
        with self.errors.open("wb") as errors:
            self.program = subprocess.Popen(
                [*command, f"--json={self.report}"],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
        self.watch = Watch(mark, self.program.pid)

    def __enter__(self) -> Search:
        return self

    def __exit__(self, *_: object) -> None:
        self.program.kill()
        self.program.wait()
        sweep(self.watch, self.folders)
        self.folder.cleanup()

    def strike(self, ending: Ending, roles: Roles, chance: random.Random) -> bool:
        """Send the signal, if there is somebody to take it."""
        root = self.program.pid
        crowds = {"worker": roles.workers, "engine": roles.engines, "rank": roles.ranks}
        crowd = crowds.get(ending.victim, [root])
        if not crowd:
            return False
        try:
            send = os.killpg if ending.victim == "group" else os.kill
            send(chance.choice(crowd), ending.signal)
        except ProcessLookupError:
            return False
        return True

    def scenarios(self) -> int | None:
        """Return how many it says it ran."""
        if not self.report.exists():
            return None
        return int(json.loads(self.report.read_text())["cases"])

    def left_over(self, patience: float) -> list[str]:
        """Return what is still there after so many seconds."""
        deadline = time.monotonic() + patience
        while (found := left(self.watch, self.folders)) and time.monotonic() < deadline:
            time.sleep(0.05)
        return found


class Director:
    """Looks at a search until it ends, and brings that about."""

    def __init__(self, search: Search, ending: Ending, moment: float, chance: random.Random):
        self.search = search
        self.ending = ending
        self.moment = moment
        self.chance = chance
        self.begin = time.monotonic()
        self.struck = False
        self.struck_at_hello = False  # before there was a search
        self.interrupted_at = 0.0
        self.has_begun = False
        self.looks_without_workers = 0
        self.ended = Ended()

    def run(self, patience: float) -> Ended:
        """Follow the search to its end; what is there `patience` seconds later has been left."""
        program = self.search.program
        while program.poll() is None:
            self.follow()
            time.sleep(0.01 if self.interrupted_at else LOOK_SECONDS)
        self.search.watch.look()  # for sockets of those who outlive it
        if self.interrupted_at:
            self.ended.ending_seconds = time.monotonic() - self.interrupted_at
        self.check_status(program.returncode)
        self.ended.scenarios = self.search.scenarios()
        self.ended.leaks += self.search.watch.grown() + self.search.left_over(patience)
        return self.ended

    def follow(self) -> None:
        """Look once, and do what is due."""
        roles = self.search.watch.look()
        seconds = time.monotonic() - self.begin
        self.has_begun = self.has_begun or bool(roles.workers)
        idle = self.has_begun and not roles.workers
        self.looks_without_workers = self.looks_without_workers + 1 if idle else 0
        is_over = self.looks_without_workers >= 2  # one that was killed is missing for a moment
        if not is_over:
            self.ended.search_seconds = seconds
        if not self.struck and self.is_time(seconds, is_over):
            self.struck = self.search.strike(self.ending, roles, self.chance)
            self.struck_at_hello = self.struck and not self.has_begun
            if self.struck:
                self.ended.ending = self.ending
            if self.struck and self.ending.victim in ("program", "group"):
                self.interrupted_at = time.monotonic()
        if is_over and self.ending.victim and not self.interrupted_at:  # the rest is minimising
            self.search.program.send_signal(signal.SIGINT)
            self.interrupted_at = time.monotonic()
            if not self.struck:
                self.ended.ending = AFTER_SEARCH
        self.lose_patience(seconds)

    def is_time(self, seconds: float, is_over: bool) -> bool:
        """Return whether the signal is due, which it is at the latest when the search is over."""
        if self.ending.after_search or is_over:
            return is_over and bool(self.ending.victim)
        return bool(self.ending.victim) and seconds >= self.moment

    def lose_patience(self, seconds: float) -> None:
        """End a program that does not end."""
        since = time.monotonic() - self.interrupted_at
        if self.interrupted_at and since > INTERRUPT_SECONDS:
            self.ended.leaks.append(f"the program, {since:.0f} s after its signal")
        elif seconds > SEARCH_SECONDS:
            self.ended.leaks.append(f"the program, after {seconds:.0f} s")
        else:
            return
        self.search.program.kill()
        self.search.program.wait()

    def check_status(self, status: int) -> None:
        """Stop the campaign where the program could not run at all."""
        expected = {0, 1, INTERRUPTED}
        if self.struck and self.ending.victim == "program":
            expected.add(-self.ending.signal)
        if self.struck_at_hello and self.ending.victim == "engine":
            expected.add(MACHINE_LACKS)
        if status not in expected and not self.ended.leaks:
            words = self.search.errors.read_text(errors="replace").strip()
            raise SystemExit(f"the program ended with status {status}: {words[-1000:]}")
