"""Operations that several right engines have and NumPy has not: fused multiply-adds, and sums in
other orders than from the left. Each is exact before its last rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from adamant_numpy.formats import Array, rounded

Sum = Callable[[list[Array], str], Array]  # of as many terms as there are ranks


def fma(a: Any, b: Any, c: Any) -> Array:
    """`a * b + c` of float32 numbers, rounded once.

    The product of two float32 is exact in float64. Its sum with a third is rounded to odd there: a
    float64 that is not exact gets an odd last bit, so that rounding it once more is right, because
    53 bits are more than 24 + 2.
    """
    p, c64 = np.float64(a) * np.float64(b), np.float64(c)
    s = np.asarray(p + c64)
    of_c = s - p
    lost = (p - (s - of_c)) + (c64 - of_c)
    even = (np.abs(s).view(np.int64) & 1) == 0
    inexact = np.isfinite(s) & (lost != 0) & even
    towards = np.where(lost > 0, np.inf, -np.inf)
    return np.where(inexact, np.nextafter(s, towards), s).astype(np.float32)


def from_the_right(terms: list[Array], name: str) -> Array:
    """The last rank's first."""
    return reduce(lambda a, b: rounded(a + b, name), terms[::-1])


def tree(terms: list[Array], name: str) -> Array:
    """Halves, each a tree."""
    if len(terms) == 1:
        return terms[0]
    middle = (len(terms) + 1) // 2
    return rounded(tree(terms[:middle], name) + tree(terms[middle:], name), name)


def ring(terms: list[Array], name: str) -> Array:
    """As many pieces as ranks; the sum of piece i begins behind rank i."""
    count = len(terms)
    piece = np.arange(terms[0].size).reshape(terms[0].shape) * count // max(terms[0].size, 1)
    stacked = np.stack(terms)
    turns = [np.take_along_axis(stacked, (piece + 1 + k)[None] % count, 0)[0] for k in range(count)]
    return reduce(lambda a, b: rounded(a + b, name), turns)


def wide(terms: list[Array], name: str) -> Array:
    """Kept in float64, and rounded at the end."""
    total: Array = np.sum(np.stack(terms).astype(np.float64), axis=0).astype(np.float32)
    return rounded(total, name)
