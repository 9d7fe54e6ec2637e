"""`python -m adamant_torch [--engine MODULE:CLASS]`: serve requests on standard input.

In the place of a module the path of its file will do.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

import torch

from adamant_torch import __version__
from adamant_torch.engine import Engine
from adamant_torch.launcher import Launcher
from adamant_torch.rank import keep_to_this_machine


def engine_class(name: str) -> type[Engine]:
    """Return the class that `MODULE:CLASS` names, or raise `SystemExit` with what was expected."""
    module, colon, attributes = name.rpartition(":")
    if not colon:
        raise SystemExit(f"--engine {name}: expected MODULE:CLASS")
    sys.path.insert(0, os.getcwd())
    kind: object = module_at(module) if module.endswith(".py") else importlib.import_module(module)
    for attribute in attributes.split("."):
        kind = getattr(kind, attribute, None)
    if not isinstance(kind, type) or not issubclass(kind, Engine):
        raise SystemExit(f"--engine {name}: not a subclass of adamant_torch.Engine")
    return kind


def module_at(path: str) -> ModuleType:
    """Return the module in a file that no import may find by name."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None  # the name ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="adamant_torch", description=__doc__)
    parser.add_argument("--engine", metavar="MODULE:CLASS", help="a subclass of Engine")
    version = f"adamant-torch {__version__} (torch {torch.__version__})"
    parser.add_argument("--version", action="version", version=version)
    arguments = parser.parse_args()
    kind = engine_class(arguments.engine) if arguments.engine else Engine
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # an interrupt ends launcher and ranks at once
    keep_to_this_machine()
    # Replies keep the descriptor of standard output; whatever else prints goes to standard error.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    Launcher(kind).serve(sys.stdin.buffer, replies)
    sys.stderr.flush()
    os._exit(0)  # a process that imported much takes seconds to take itself down


if __name__ == "__main__":
    main()
