"""The program `adamant` as a function: where it is, a call, and what came of it."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

from adamant_pytest.plans import SetupError


class Status(IntEnum):
    """How the program ends."""

    MET = 0
    NOT_MET = 1
    BAD_INPUT = 2
    LACKING = 3


@dataclass(frozen=True)
class Answer:
    """What a call printed and wrote."""

    status: int
    out: str
    complaints: str
    results: list[dict[str, Any]]


@dataclass(frozen=True)
class Program:
    """The program at a path."""

    path: str

    @classmethod
    def find(cls, config: pytest.Config) -> Program:
        """Return the program that the option, `ADAMANT`, the ini file or `PATH` names, in turn."""
        places = {
            "--adamant-program": config.getoption("adamant_program"),
            "ADAMANT": os.environ.get("ADAMANT"),
            "adamant_program": config.getini("adamant_program"),
        }
        for name, path in places.items():
            if not path:
                continue
            found = shutil.which(config.rootpath / path) or shutil.which(path)
            if found is None:
                raise SetupError(f"adamant: {name}: {path} is no program")
            return cls(found)
        found = shutil.which("adamant")
        if found is None:
            raise SetupError(
                "adamant: the program is not in PATH; name it by --adamant-program PATH, by the "
                "environment's ADAMANT, or by adamant_program in pytest's ini file"
            )
        return cls(found)

    def call(self, *arguments: str) -> Answer:
        """Call the program and wait for it. Its engine `torch` is the one of this Python."""
        torch = f"exec {shlex.quote(sys.executable)} -m adamant_torch"
        with tempfile.TemporaryDirectory(prefix="adamant-pytest-") as folder:
            document = Path(folder) / "results.json"
            ended = subprocess.run(
                [self.path, *arguments, "--quiet", "--color", "never", "--json", str(document)],
                stdin=subprocess.DEVNULL,
                env={"ADAMANT_TORCH": torch, **os.environ},
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
            results = json.loads(document.read_text())["results"] if document.exists() else []
        return Answer(ended.returncode, ended.stdout, ended.stderr.strip(), results)
