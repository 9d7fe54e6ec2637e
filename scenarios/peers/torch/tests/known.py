"""The file of known defects as values, and their scenarios with options added.

The file keeps to a few forms of YAML, which this reads by itself: nothing else here needs a reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import adamant_torch

FOLDER = Path(adamant_torch.__file__).parent / "known"
NAME = r'(torch|"exec:[^"]*")'
ENGINE = re.compile(rf"^engine: \{{name: {NAME}(?:, options: \{{(.*)\}})?\}}$", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """A cause, and the scenarios that show it."""

    name: str
    cause: str
    versions: str
    thread: str
    shown_by: tuple[str, ...]
    avoid: tuple[str, ...] = ()  # "option: value"
    met: str = "often"


def flow(text: str, brackets: str) -> tuple[str, ...]:
    """Return what is between brackets, as texts."""
    assert text[0] + text[-1] == brackets, text
    return tuple(item.strip() for item in text[1:-1].split(","))


def known(folder: Path = FOLDER) -> list[Known]:
    """Return all entries of the file in a folder."""
    file = folder / "known.yaml"
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line[:1] != "#"]
    assert lines[0] == "known:"
    text = re.sub(r"\n {6,}", " ", "\n".join(lines[1:]))  # a value may go on in the next line
    entries = []
    for part in re.split(r"^  - ", text, flags=re.MULTILINE)[1:]:
        fields = dict(line.strip().split(": ", 1) for line in part.splitlines() if line.strip())
        shown_by = flow(fields.pop("shown_by"), "[]")
        avoid = flow(fields.pop("avoid"), "{}") if "avoid" in fields else ()
        entries.append(Known(**fields, shown_by=shown_by, avoid=avoid))
    return entries


def with_options(scenario: str, added: tuple[str, ...]) -> str:
    """Return the text of a scenario with options added to its engine's, or in their places."""
    scenario = re.sub(r",\n +", ", ", scenario)  # options may go on in the next line
    found = ENGINE.search(scenario)
    assert found is not None, scenario
    own = found[2].split(", ") if found[2] else []
    options = dict(option.split(": ") for option in [*own, *added])
    text = ", ".join(f"{name}: {value}" for name, value in options.items())
    return ENGINE.sub(rf"engine: {{name: \1, options: {{{text}}}}}", scenario)
