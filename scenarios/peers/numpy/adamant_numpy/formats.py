"""Number types of 16, 8 and 4 bits: rounding to them once, to nearest, ties to even.

    bf16   float32 arrays whose low halves are zero
    fp16   float16 arrays
    E4M3   codes of 8 bits, the largest number 448, no infinity, 0x7f and 0xff are NaN
    E2M1   codes of 4 bits, the largest number 6, neither infinity nor NaN
    E8M0   codes of 8 bits, powers of two from 2^-127

It knows nothing of scales.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Codes = NDArray[np.uint8]

LARGEST_E4M3, LARGEST_E2M1 = 448.0, 6.0
_NAN = 0x7F


def rounded(values: Array, name: str) -> Array:
    """Rounds to the nearest number of fp32 or bf16; any NaN becomes one NaN."""
    if name == "fp32":
        return values
    bits = np.ascontiguousarray(values).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    kept = (bits + odd + np.uint32(0x7FFF)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.float32(np.nan), kept.view(np.float32))


def upper_half(values: Array, cut_off: bool = False) -> Array:
    """The bf16 numbers that remainders complete: ties go away from zero."""
    bits = np.ascontiguousarray(values).view(np.uint32)
    kept = (bits + np.uint32(0 if cut_off else 0x8000)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.float32(np.nan), kept.view(np.float32))


def _magnitudes(least_exponent: int, fraction_bits: int, count: int) -> NDArray[np.float64]:
    """What the codes without a sign are worth, in their order."""
    fractions = 2**fraction_bits
    steps = [2.0 ** (max(code // fractions, 1) - 1 + least_exponent) for code in range(count)]
    whole = [code % fractions + (fractions if code >= fractions else 0) for code in range(count)]
    return np.array([s * w / fractions for s, w in zip(steps, whole, strict=True)])


_E4M3 = _magnitudes(-6, 3, 0x7F)
_E2M1 = _magnitudes(0, 1, 8)


def _signed(magnitudes: NDArray[np.float64], nan: bool) -> Array:
    """What every code is worth."""
    all_ = [*magnitudes, np.nan] if nan else [*magnitudes]
    return np.array([*all_, *(-x for x in all_)], np.float32)


_VALUES_E4M3 = _signed(_E4M3, nan=True)
_VALUES_E2M1 = _signed(_E2M1, nan=False)


def _codes(values: Array, table: NDArray[np.float64], least: int, bits: int) -> NDArray[Any]:
    """Codes of magnitudes; one more than there are for what is too large."""
    size = np.abs(values.astype(np.float64))
    size = np.where(np.isfinite(size), size, 2 * table[-1])
    exponent = np.maximum(np.frexp(size)[1] - 1, least)
    step = np.ldexp(1.0, exponent - bits)
    codes: NDArray[Any] = np.searchsorted(table, np.rint(size / step) * step)
    return codes


def e4m3(values: Array, saturates: bool = True) -> Codes:
    """Codes; beyond the largest number is that number, or NaN."""
    codes = _codes(values, _E4M3, -6, 3)
    if saturates:
        codes = np.minimum(codes, _NAN - 1)
    codes = np.where(np.isnan(values), _NAN, codes | (np.signbit(values) * 0x80))
    return codes.astype(np.uint8)


def e2m1(values: Array) -> Codes:
    """Codes in the lower half of a byte; NaN is +6."""
    codes = np.minimum(_codes(values, _E2M1, 0, 1), 7)
    return np.where(np.isnan(values), 7, codes | (np.signbit(values) * 8)).astype(np.uint8)


def e8m0_not_below(values: Array) -> Codes:
    """Codes of the smallest powers of two that are not below, between the least and the largest."""
    fraction, exponent = np.frexp(values.astype(np.float64))
    codes = np.where(fraction == 0.5, exponent - 1, exponent) + 127
    codes = np.where(values == 0, 0, np.where(np.isinf(values), 254, codes))
    clipped: Codes = np.clip(codes, 0, 254).astype(np.uint8)
    return clipped


def of_e4m3(codes: Codes) -> Array:
    """What they are worth."""
    return _VALUES_E4M3[codes]


def of_e2m1(codes: Codes) -> Array:
    """What they are worth."""
    return _VALUES_E2M1[codes]


def of_e8m0(codes: Codes) -> Array:
    """What they are worth; 2^-127 is a subnormal number."""
    return np.ldexp(np.float32(1), codes.astype(np.int32) - 127)
