"""Searches that end in every way, and what each of them leaves: it has to be nothing.

    python3 leak_campaign.py build/dev/adamant --engine torch --scenarios 10000

Round after round a search runs with an engine in another process, and at a random moment somebody
is sent a signal: the program, its process group, a worker, an engine, one of its ranks. After each
round no process, socket or file may be left, and no engine may have come to hold more and more
descriptors. What is left is printed, and ended. Exit status: 0 nothing, 1 something.

Scenarios are counted as the program counts them; those of one that was killed are not counted.
Every other round has a temporary folder of its own. What else the machine does is let alone.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections import defaultdict
from pathlib import Path

from ended_search import ENDINGS, OWN_END, Director, Ended, Ending, Search

FIRST_GUESS_SECONDS = 1.0  # of the first search, from which the others' moments are drawn
ATTEMPTS = 4  # at an ending whose signal came when nobody was there to take it
IDLE_MAX = 5  # times that all endings came and no scenario was counted


class Campaign:
    """Rounds with one program and engine, until enough scenarios were run."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.chance = random.Random(options.seed)
        self.rounds: list[Ended] = []
        self.skip = 0
        self.search_seconds = FIRST_GUESS_SECONDS

    def run(self) -> None:
        """Run rounds; all endings come before one comes again. Stop where they count nothing."""
        wanted = self.options.ending
        endings = [ending for ending in ENDINGS if not wanted or ending.name in wanted]
        idle = 0
        while self.scenarios() < self.options.scenarios and idle < IDLE_MAX:
            before = self.scenarios()
            for ending in endings:
                self.until_it_comes(ending)
            idle = idle + 1 if self.scenarios() == before else 0
        if idle == IDLE_MAX:
            print("stopped: such endings count no scenarios", file=sys.stderr)

    def until_it_comes(self, ending: Ending) -> None:
        """Run a round, and others with an earlier signal where the first one hit nobody."""
        for attempt in range(1, ATTEMPTS + 1):
            ended = self.one(ending, self.search_seconds / attempt)
            self.rounds.append(ended)
            self.say(ended)
            if ended.ending == ending or ending.after_search:
                return

    def say(self, ended: Ended) -> None:
        """Print what became of a round."""
        where = f"round {len(self.rounds)}, {ended.ending.name}"
        scenarios = "unknown" if ended.scenarios is None else ended.scenarios
        print(f"{where}: {scenarios} scenarios, {ended.search_seconds:.1f} s", file=sys.stderr)
        for leak in ended.leaks:
            print(f"{where}: left: {leak}", flush=True)

    def one(self, ending: Ending, latest: float) -> Ended:
        """Run one round. Its signal comes within so many seconds."""
        cases = self.options.round
        if ending == OWN_END:  # it also minimises all that it finds
            cases = max(1, cases // 20)
        number = len(self.rounds)
        mark = f"{os.getpid()}.{number}"
        moment = self.chance.uniform(0.0, latest)
        with Search(self.command(cases), mark, has_private_folder=number % 2 == 0) as search:
            ended = Director(search, ending, moment, self.chance).run(self.options.patience)
        self.skip += cases
        if ending.after_search:
            self.search_seconds = ended.search_seconds
        return ended

    def command(self, cases: int) -> list[str]:
        """Return a search for the next cases."""
        numbers = {
            "seed": self.options.seed,
            "skip": self.skip,
            "cases": cases,
            "jobs": self.options.jobs,
        }
        arguments = [f"--{name}={value}" for name, value in numbers.items()]
        program = str(self.options.program)
        return [program, "fuzz", f"--engine={self.options.engine}", *arguments]

    def scenarios(self) -> int:
        """Return how many are known to have run."""
        return sum(ended.scenarios or 0 for ended in self.rounds)

    def leaks(self) -> int:
        """Return how much was left, of all rounds together."""
        return sum(len(ended.leaks) for ended in self.rounds)

    def table(self) -> str:
        """Return what came of it, ending by ending."""
        by_ending = defaultdict(list)
        for ended in self.rounds:
            by_ending[ended.ending.name].append(ended)
        lines = [f"{'ending':30}{'rounds':>8}{'scenarios':>11}{'left':>6}{'slowest end':>13}"]
        for name, rounds in sorted(by_ending.items()):
            scenarios = sum(ended.scenarios or 0 for ended in rounds)
            leaks = sum(len(ended.leaks) for ended in rounds)
            slowest = max(ended.ending_seconds for ended in rounds)
            lines.append(f"{name:30}{len(rounds):8}{scenarios:11}{leaks:6}{slowest:11.2f} s")
        lines.append(f"{'all':30}{len(self.rounds):8}{self.scenarios():11}{self.leaks():6}")
        return "\n".join(lines)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the command line."""
    description = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("program", type=Path, help="adamant")
    parser.add_argument("--engine", default="torch", help="torch, or exec:COMMAND")
    parser.add_argument("--scenarios", type=int, default=10_000, help="so many, at least")
    parser.add_argument("--round", type=int, default=400, help="scenarios of a round")
    names = [ending.name for ending in ENDINGS]
    parser.add_argument("--ending", action="append", choices=names, help="only this one")
    parser.add_argument("--patience", type=float, default=15.0, help="seconds for all to be gone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args(arguments)


def main() -> int:
    """Run the campaign, print its table."""
    campaign = Campaign(parse(sys.argv[1:]))
    try:
        campaign.run()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
    print(campaign.table())
    return 1 if campaign.leaks() else 0


if __name__ == "__main__":
    sys.exit(main())
