"""`python3 -m adamant_numpy [--bug NAME]`: an engine on standard input and output."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal

from .launcher import Launcher
from .server import Server
from .zero1 import BUGS


def main() -> None:
    """Answers requests until standard input ends."""
    options = argparse.ArgumentParser(prog="adamant_numpy", description=__doc__)
    options.add_argument("--bug", choices=BUGS, default="none", help="a defect to be caught")
    bug: str = options.parse_args().bug
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ends at once; worlds die with their parent
    with contextlib.suppress(BrokenPipeError):  # nobody listens any more
        Launcher(0, _replies(), Server(bug).answer).run()


def _replies() -> int:
    """Standard output for replies alone: whatever else is printed goes to standard error."""
    replies = os.dup(1)
    os.dup2(2, 1)
    return replies


if __name__ == "__main__":
    main()
