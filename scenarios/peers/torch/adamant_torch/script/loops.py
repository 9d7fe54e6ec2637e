"""Requests that are repeated, as a loop: iterations that are alike but for their gradients."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from adamant_torch.script.layout import COLUMNS_MAX, MARGIN, Expression, called

NAME = r'(?<!["\w.]){}(?!["\w])'  # of a constant, and of no parameter within quotes
ITERATION = ("clip", "step", "zero_grad")  # behind a backward


@dataclass
class Lines:
    """What one request comes to."""

    verb: str  # empty: more happens around it than the request
    lines: list[str]
    gradients: list[str] = field(default_factory=list)  # constants in it


def looped(blocks: list[Lines]) -> list[str]:
    """Return the lines of all blocks, with loops where there can be some."""
    lines: list[str] = []
    while blocks:
        length = length_of(blocks)
        first = body(blocks[:length])
        count = 1
        while length and body(blocks[count * length : (count + 1) * length]) == first:
            count += 1
        if length and count > 1 and all(len(MARGIN + line) <= COLUMNS_MAX for line in first):
            lines += loop(blocks[: count * length : length], first)
            blocks = blocks[count * length :]
        else:
            lines += blocks[0].lines
            blocks = blocks[1:]
    return lines


def length_of(blocks: list[Lines]) -> int:
    """Return of how many blocks an iteration is; 0: none begins here, or it has several passes."""
    if not blocks or blocks[0].verb != "backward" or len(blocks[0].gradients) != 1:
        return 0
    return 1 + [*(each.verb in ITERATION for each in blocks[1:]), False].index(False)


def body(blocks: list[Lines]) -> list[str]:
    """Return the lines of an iteration, whatever its gradients are called."""
    lines = [line for each in blocks for line in each.lines]
    return [re.sub(NAME.format(r"GRADIENTS(_\d+)?"), "gradients", line) for line in lines]


def loop(backwards: list[Lines], lines: list[str]) -> list[str]:
    """Return iterations that are alike."""
    names = [each.gradients[0] for each in backwards]
    head = called("for gradients in ", [("", Expression(name)) for name in names], 1, ":")
    if len(set(names)) == 1:
        lines = [re.sub(NAME.format("gradients"), names[0], line) for line in lines]
        head = [f"{MARGIN}for _ in range({len(names)}):"]
    return [*head, *(MARGIN + line for line in lines)]
