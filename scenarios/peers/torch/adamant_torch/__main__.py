"""`python -m adamant_torch [--engine MODULE:CLASS]`: serve requests on standard input.

In the place of a module the path of its file will do. `python -m adamant_torch script SESSION`
makes a script of a session that was recorded.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.util
import os
import signal
import sys
from pathlib import Path
from types import ModuleType

import torch

from adamant_torch import __version__, hello, script
from adamant_torch.engine import Engine
from adamant_torch.launcher import Launcher
from adamant_torch.rank import keep_to_this_machine


def engine_class(name: str) -> type[Engine]:
    """Return the class that `MODULE:CLASS` names, or raise `SystemExit` with what was expected."""
    module, colon, attributes = name.rpartition(":")
    if not colon:
        raise SystemExit(f"--engine {name}: expected MODULE:CLASS")
    sys.path.insert(0, os.getcwd())
    found = module_at(module) if module.endswith(".py") else importlib.import_module(module)
    kind: object = found
    for attribute in attributes.split("."):
        kind = getattr(kind, attribute, None)
    if not isinstance(kind, type) or not issubclass(kind, Engine):
        near = meant(found, attributes)
        raise SystemExit(f"--engine {name}: not a subclass of adamant_torch.Engine{near}")
    return kind


def meant(module: ModuleType, name: str) -> str:
    """Return the engine of a module whose name is nearest, as a question, or nothing."""
    there = (key for key, at in vars(module).items() if isinstance(at, type))
    engines = [key for key in there if issubclass(getattr(module, key), Engine)]
    near = difflib.get_close_matches(name, engines, n=1)
    return f" (did you mean `{near[0]}`?)" if near else ""


def module_at(path: str) -> ModuleType:
    """Return the module in a file that no import may find by name."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    assert spec is not None  # the name ends in .py
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def main(default: type[Engine] = Engine) -> None:
    """Serve until standard input ends, `default` where no `--engine` names another class."""
    if sys.argv[1:2] == ["script"]:
        return script.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="adamant_torch", description=__doc__)
    parser.add_argument("--engine", metavar="MODULE:CLASS", help="a subclass of Engine")
    parser.add_argument("--version", action="store_true", help="say what would start, and end")
    arguments = parser.parse_args()
    kind = engine_class(arguments.engine) if arguments.engine else default
    if arguments.version:
        versions = kind.versions({**hello.releases(kind), "torch": torch.__version__})
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        print(f"adamant-torch {__version__} ({told})")
        return
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
