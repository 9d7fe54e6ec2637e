"""The file of known defects as values, and their scenarios with options added.

The file keeps to a few forms of YAML, which this reads by itself: nothing else here needs a reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import torch

import adamant_torch

FOLDER = Path(adamant_torch.__file__).parent / "known"
RELEASE = torch.__version__.split("+")[0]
LOOKED_AT = ("2.8.0", "2.13.0", "2.14.1", "2.15.0")  # releases of PyTorch
ENGINE = re.compile(r"^engine: \{name: (\w+)(?:, options: \{(.*)\})?\}$", re.MULTILINE)


@dataclass(frozen=True)
class Known:
    """A cause, and the scenarios that show it."""

    name: str
    cause: str
    versions: tuple[str, ...]
    thread: str
    shown_by: tuple[str, ...]
    avoid: tuple[str, ...] = ()  # "option: value"
    met: str = "often"

    def shows(self) -> bool:
        """Whether it shows here, as far as is known: in the last release looked at up to ours."""
        last = max((each for each in LOOKED_AT if number(each) <= number(RELEASE)), key=number)
        return last in self.versions


def number(release: str) -> tuple[int, ...]:
    """Return a release such as 2.13.0 as what can be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", release)[:3])


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
        versions = flow(fields.pop("versions"), '""')
        entries.append(Known(**fields, versions=versions, shown_by=shown_by, avoid=avoid))
    return entries


def entry(name: str, folder: Path = FOLDER) -> Known:
    """Return the entry of that name."""
    (found,) = (each for each in known(folder) if each.name == name)
    return found


def on_one_line(scenario: str) -> str:
    """Return a scenario whose options of the engine do not go on in the next line."""
    return re.sub(r",\n +", ", ", scenario)


def engine_options(scenario: str) -> dict[str, str]:
    """Return the options that a scenario gives to its engine, as texts."""
    found = ENGINE.search(on_one_line(scenario))
    assert found is not None, scenario
    return dict(option.split(": ") for option in found[2].split(", ")) if found[2] else {}


def with_options(scenario: str, added: tuple[str, ...]) -> str:
    """Return the text of a scenario with options added to its engine's, or in their places."""
    options = engine_options(scenario) | dict(option.split(": ") for option in added)
    text = ", ".join(f"{name}: {value}" for name, value in options.items())
    return ENGINE.sub(rf"engine: {{name: \1, options: {{{text}}}}}", on_one_line(scenario))
