"""States in fp16 and fp8: what is kept is what it is divided by a scale.

Which numbers share one is the caller's. It knows nothing of ranks and files.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import Array, e4m3, of_e4m3

F32 = np.float32
RANGES = {"fp16": F32(32752), "fp8": F32(448)}  # what the largest number of a tensor becomes
_LEAST = F32(2.0**-126)


@dataclass(frozen=True)
class Scaled:
    """Numbers as they are kept: float16, or codes of E4M3."""

    raw: NDArray[Any]
    scale: np.float32

    def values(self) -> Array:
        """What reading gives."""
        numbers = of_e4m3(self.raw) if self.raw.dtype == np.uint8 else self.raw.astype(F32)
        return numbers * self.scale


def scale_of(parts: Iterable[Array], name: str) -> np.float32:
    """The scale of numbers that are kept in fp16 or fp8, by the largest finite one."""
    amax = F32(0)
    for values in parts:
        finite = np.abs(values[np.isfinite(values)])
        amax = np.maximum(amax, finite.max(initial=F32(0)))
    return np.maximum(amax / RANGES[name], _LEAST) if amax > 0 else F32(1)


def kept(values: Array, scale: np.float32, name: str) -> Scaled:
    """Rounds once, to nearest; fp8 has no infinity, which becomes NaN."""
    divided = values * (F32(1) / scale)
    raw = divided.astype(np.float16) if name == "fp16" else e4m3(divided, saturates=False)
    return Scaled(raw, scale)
