"""Requests that are repeated, as a loop: iterations that are alike but for their gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adamant_torch.script.layout import COLUMNS_MAX, MARGIN, Expression, called

GIVEN = "\0"  # stands in lines for the name of their gradients
IN_LOOP = "gradients"  # which is this in a loop
ITERATION = ("clip", "step", "zero_grad")  # behind a backward


@dataclass(frozen=True)
class Lines:
    """What one request comes to, by the name of its gradients and by how deep it stands."""

    verb: str  # empty: more happens around it than the request
    made: Callable[[str, int], list[str]]
    gradients: Sequence[str] = ()  # the constant that it has, where it is one

    @classmethod
    def fixed(cls, verb: str, lines: list[str], gradients: Sequence[str] = ()) -> Lines:
        """Return lines that are broken as they are, however deep they stand."""

        def made(name: str, depth: int) -> list[str]:
            return [MARGIN * (depth - 1) + line.replace(GIVEN, name) for line in lines]

        return cls(verb, made, gradients)

    def alone(self, depth: int = 1) -> list[str]:
        """Return them in no loop."""
        return self.made("".join(self.gradients), depth)


def looped(blocks: list[Lines]) -> list[str]:
    """Return the lines of all blocks, with loops where there can be some."""
    lines: list[str] = []
    while blocks:
        length = length_of(blocks)
        first = body(blocks[:length], IN_LOOP)
        count = 1
        while length and body(blocks[count * length : (count + 1) * length], IN_LOOP) == first:
            count += 1
        if count > 1 and all(len(line) <= COLUMNS_MAX for line in first):
            lines += loop(blocks[: count * length], length)
            blocks = blocks[count * length :]
        else:
            lines += blocks[0].alone()
            blocks = blocks[1:]
    return lines


def length_of(blocks: list[Lines]) -> int:
    """Return of how many blocks an iteration is; 0: none begins here, or it has several passes."""
    if not blocks[0].gradients:
        return 0
    return 1 + [*(each.verb in ITERATION for each in blocks[1:]), False].index(False)


def body(blocks: list[Lines], gradients: str) -> list[str]:
    """Return the lines of an iteration within a loop, whose gradients are called so."""
    return [line for each in blocks for line in each.made(gradients, 2)]


def loop(blocks: list[Lines], length: int) -> list[str]:
    """Return iterations of so many blocks that are alike."""
    names = [each.gradients[0] for each in blocks[::length]]
    if len(set(names)) == 1:
        return [f"{MARGIN}for _ in range({len(names)}):", *body(blocks[:length], names[0])]
    each_of = [("", Expression(name)) for name in names]
    head = called(f"for {IN_LOOP} in ", each_of, 1, ":")
    return [*head, *body(blocks[:length], IN_LOOP)]
