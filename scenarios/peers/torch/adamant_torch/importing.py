"""How another Python imports an engine's class: from which module, and where that lies.

`hello` says it, so that a script for a bug report can drive the class by `driving.Driver`.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from adamant_torch.protocol import Message


def engine_class(kind: type[Any]) -> Message | None:
    """Return `engine_class` of hello's reply, or None where no import finds the class.

    `path` is what `sys.path` needs beside what is installed: the module lies in the working
    directory or in PYTHONPATH, or its file was named.
    """
    module, name = kind.__module__, kind.__qualname__
    file = getattr(sys.modules.get(module), "__file__", None)
    words = [*module.split("."), *name.split(".")]
    plain = all(word.isidentifier() and word.isascii() for word in words)
    if module == "__main__" or file is None or not plain:
        return None
    root = root_of(Path(file).absolute(), module.count("."))
    found = {"module": module, "name": name}
    return found if is_installed(module, root) else {**found, "path": str(root)}


def root_of(file: Path, depth: int) -> Path:
    """Return the folder in which the first of `depth` packages around a module lies."""
    return file.parents[depth + (file.stem == "__init__")]


def is_installed(module: str, root: Path) -> bool:
    """Return whether a Python without this one's PYTHONPATH finds that module, elsewhere too."""
    package = module.partition(".")[0]
    spec = next(filter(None, (_spec(finder, package) for finder in sys.meta_path)), None)
    if spec is None:
        return False
    places = list(spec.submodule_search_locations or [])
    lies_in = Path(places[0]).parent if places else root_of(Path(spec.origin or ""), 0)
    return lies_in.resolve() == root.resolve()


def _spec(finder: Any, package: str) -> ModuleSpec | None:
    """Return how one of `sys.meta_path` would find a package, were it not there already."""
    found: ModuleSpec | None = finder.find_spec(
        package, _installed() if finder is PathFinder else None
    )
    return found


def _installed() -> list[str]:
    """Return the entries of `sys.path` that each process of this Python has."""
    added = {Path.cwd()}
    added |= {Path(entry).absolute() for entry in os.environ.get("PYTHONPATH", "").split(":")}
    return [entry for entry in sys.path if Path(entry).absolute() not in added]
