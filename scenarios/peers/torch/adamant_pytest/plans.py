"""What a test asks for, and what `adamant` has to be told of its engine."""

from __future__ import annotations

import importlib.machinery
import inspect
import os
import re
import shlex
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A class is a subclass of `adamant_torch.Engine`; a text is what `adamant --engine` takes.
EngineUnderTest = type[Any] | str


class SetupError(Exception):
    """Nothing can be said of the engine: something around it is wrong."""


@dataclass(frozen=True)
class Case:
    """One scenario of a test: of its folder, or found before."""

    name: str
    file: Path
    found: bool = False


@dataclass(frozen=True)
class Plan:
    """An engine, and how long it may take to answer."""

    engine: EngineUnderTest
    peer_timeout: int | None

    @property
    def is_of_adamant(self) -> bool:
        """Whether the engine is one that adamant knows by name: a machine may lack it."""
        return isinstance(self.engine, str) and not self.engine.startswith("exec:")

    def options(self, engine: EngineUnderTest | None = None) -> list[str]:
        """Return the options of `adamant` that all calls share, of this or of another engine."""
        options = ["--engine", engine_argument(engine or self.engine)]
        if self.peer_timeout is not None:
            options += ["--peer-timeout", str(self.peer_timeout)]
        return options


@dataclass(frozen=True)
class Scenarios(Plan):
    """All scenarios of a folder."""

    folder: str

    def cases(self, beside: Path) -> list[Case]:
        """Return the scenarios of the folder, or the one file that it is."""
        folder = beside.parent / self.folder
        if folder.is_file():
            return [Case(folder.name, folder)]
        found = sorted(path for path in folder.rglob("*.y*ml") if is_scenario(path))
        if not found:
            what = "holds no scenario" if folder.is_dir() else "there is no such folder"
            raise SetupError(
                f"adamant: {folder}: {what}; a scenario is a YAML file with `adamant: 1`"
            )
        return [Case(path.relative_to(folder).as_posix(), path) for path in found]


@dataclass(frozen=True)
class Fuzz(Plan):
    """So many scenarios, drawn from a seed."""

    cases: int
    seed: int | None


def is_scenario(path: Path) -> bool:
    """Return whether a file is YAML with the key `adamant`."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    key = re.compile(r"""^\{?\s*["']?adamant["']?\s*:""", re.MULTILINE)
    return key.search(path.read_text(errors="replace")) is not None


def engine_argument(engine: EngineUnderTest) -> str:
    """Return what `adamant --engine` is given."""
    if isinstance(engine, str):
        return engine
    return f"exec:{environment()}exec {shlex.quote(sys.executable)} -m adamant_torch --engine " + (
        shlex.quote(name_of(engine))
    )


def environment() -> str:
    """Return what the shell sets before the engine: where this process finds modules of tests."""
    paths = sysconfig.get_paths()
    usual = tuple(paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib"))
    entries = [Path(entry).absolute() for entry in sys.path]
    added = [str(entry) for entry in entries if entry.is_dir() and not str(entry).startswith(usual)]
    return f"PYTHONPATH={shlex.quote(os.pathsep.join(added))} " if added else ""


def name_of(engine: type[Any]) -> str:
    """Return MODULE:CLASS, or FILE:CLASS where another process could not import the module."""
    if "<locals>" in engine.__qualname__:
        raise SetupError(
            f"adamant: engine {engine.__qualname__}: a class inside a function cannot be made in "
            "another process; expected one at the level of a module"
        )
    file = inspect.getfile(engine)
    module = engine.__module__ if is_importable(engine.__module__, file) else file
    return f"{module}:{engine.__qualname__}"


def is_importable(module: str, file: str) -> bool:
    """Return whether an import of `module` by another process would find `file`."""
    places: Any = None
    origin: str | None = None
    for depth in range(1, module.count(".") + 2):
        spec = spec_of(".".join(module.split(".")[:depth]), places)
        if spec is None:
            return False
        places, origin = spec.submodule_search_locations, spec.origin
    return origin is not None and Path(origin).resolve() == Path(file).resolve()


def spec_of(module: str, places: Any) -> importlib.machinery.ModuleSpec | None:
    """Return how a module would be found, were it not there already."""
    specs = (finder.find_spec(module, places) for finder in sys.meta_path)
    return next((spec for spec in specs if spec is not None), None)
