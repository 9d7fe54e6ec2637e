"""`python -m adamant_torch [--engine MODULE:CLASS]`: serve requests on standard input."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys

import torch

from adamant_torch.engine import Engine
from adamant_torch.launcher import Launcher


def engine_class(name: str) -> type[Engine]:
    """Return the class that `MODULE:CLASS` names, or raise `SystemExit` with what was expected."""
    module, colon, attribute = name.partition(":")
    if not colon:
        raise SystemExit(f"--engine {name}: expected MODULE:CLASS")
    sys.path.insert(0, os.getcwd())
    kind = getattr(importlib.import_module(module), attribute, None)
    if not isinstance(kind, type) or not issubclass(kind, Engine):
        raise SystemExit(f"--engine {name}: not a subclass of adamant_torch.Engine")
    return kind


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="adamant_torch", description=__doc__)
    parser.add_argument("--engine", metavar="MODULE:CLASS", help="a subclass of Engine")
    arguments = parser.parse_args()
    kind = engine_class(arguments.engine) if arguments.engine else Engine
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt ends launcher and ranks at once
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # ranks are CPU processes, whatever there is
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")  # ranks meet on this machine alone
    torch.set_num_threads(1)
    # Replies keep the descriptor of standard output; whatever else prints goes to standard error.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Launcher(kind).serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
