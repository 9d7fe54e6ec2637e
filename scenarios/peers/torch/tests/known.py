"""What is known of PyTorch, and its scenarios with options added."""

from __future__ import annotations

import re
from pathlib import Path

import torch

import adamant_torch
from defect_scripts import Known, known

FOLDER = Path(adamant_torch.__file__).parent / "known"
KNOWN = known(FOLDER)
RELEASE = torch.__version__.split("+")[0]
LOOKED_AT = ("2.8.0", "2.13.0", "2.14.1", "2.15.0")  # releases of PyTorch
ENGINE = re.compile(r"^engine: \{name: (\w+)(?:, options: \{(.*)\})?\}$", re.MULTILINE)


def number(release: str) -> tuple[int, ...]:
    """Return a release such as 2.13.0 as what can be compared."""
    return tuple(int(part) for part in re.findall(r"\d+", release)[:3])


def entry(name: str) -> Known:
    """Return the entry of that name."""
    (found,) = (each for each in KNOWN if each.name == name)
    return found


def is_seen_here(cause: Known) -> bool:
    """Return whether a cause was seen in the release that is here."""
    return cause.was_seen_in({RELEASE})


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
