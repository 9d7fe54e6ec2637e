"""Python source as `ruff format` lays it out: values and calls that break where they are too wide.

Knows nothing of what the lines say.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

COLUMNS_MAX = 100
MARGIN = "    "

Argument = tuple[str, Any]  # what stands before a value, as `lr=`, and the value


class Expression(str):
    """Source text that stands for itself: a name, a call."""

    __slots__ = ()


def source(value: Any) -> str:
    """Return a value as Python reads it, on one line."""
    if isinstance(value, Expression):
        return str(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        items = (f"{source(key)}: {source(item)}" for key, item in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(source, value)) + "]"
    if isinstance(value, tuple):
        inside = ", ".join(map(source, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    return repr(value)


def laid(before: str, value: Any, after: str = "", depth: int = 0) -> list[str]:
    """Return lines with a value, one item a line where it is too wide for one."""
    flat = MARGIN * depth + before + source(value) + after
    if len(flat) <= COLUMNS_MAX or not isinstance(value, dict | list) or not value:
        return [flat]
    if isinstance(value, dict):
        opening, closing = "{}"
        items = [(f"{source(key)}: ", item) for key, item in value.items()]
    else:
        opening, closing = "[]"
        items = [("", item) for item in value]
    lines = [line for key, item in items for line in laid(key, item, ",", depth + 1)]
    return [MARGIN * depth + before + opening, *lines, MARGIN * depth + closing + after]


def packed(named: dict[str, Any]) -> list[str]:
    """Return lines that give names to values, as many of them on a line as there is room for."""
    lines = [f"{name} = {source(value)}" for name, value in named.items()]
    if all(len(line) <= COLUMNS_MAX for line in lines):
        return lines
    return [
        "# fmt: off",
        *(part for line in lines for part in wrap(line, COLUMNS_MAX, subsequent_indent=" ")),
        "# fmt: on",
    ]


def called(
    function: str, arguments: Sequence[Argument], depth: int = 0, after: str = ""
) -> list[str]:
    """Return lines with a call: all arguments on one line, or one a line."""
    margin = MARGIN * depth
    inside = ", ".join(before + source(value) for before, value in arguments)
    if len(flat := f"{margin}{function}({inside}){after}") <= COLUMNS_MAX:
        return [flat]
    lines = [f"{margin}{MARGIN}{inside}"]
    if len(lines[0]) > COLUMNS_MAX:
        lines = [line for each in arguments for line in laid(*each, ",", depth + 1)]
    return [f"{margin}{function}(", *lines, f"{margin}){after}"]
