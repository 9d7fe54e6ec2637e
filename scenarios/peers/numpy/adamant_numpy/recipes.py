"""Parameters kept as codes of 8 or 4 bits: TransformerEngine's five recipes, on whole matrices.

A tensor is a matrix whose columns are its last dimension. It knows nothing of ranks and files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import Array, Codes, e2m1, e4m3, e8m0_not_below, of_e2m1, of_e4m3, of_e8m0

F32 = np.float32
RECIPES = ("fp8_delayed", "fp8_current", "fp8_block", "mxfp8", "nvfp4")
_SIDES = {"fp8_block": 128, "mxfp8": 32, "nvfp4": 16}  # no block is cut
_ONE = F32(1)
_LARGEST = np.finfo(F32).max


@dataclass(frozen=True)
class Delayed:
    """What fp8_delayed keeps from one quantisation to the next."""

    history: Array = field(default_factory=lambda: np.zeros(16, F32))  # amaxes, newest last
    next_scale: np.float32 = _ONE


@dataclass(frozen=True)
class Quantised:
    """A parameter; one code an element, also of 4 bits."""

    recipe: str
    codes: Codes  # in the shape of the tensor
    scale: NDArray[Any]  # float32, or codes; [1], or one a block
    amax: np.float32  # of the tensor
    delayed: Delayed

    def values(self) -> Array:
        """What reading gives."""
        numbers = of_e2m1(self.codes) if self.recipe == "nvfp4" else of_e4m3(self.codes)
        matrix = _matrix(numbers)
        return (matrix * _spread(self.factors(), matrix)).reshape(numbers.shape)

    def factors(self) -> Array:
        """By what reading multiplies, one a block."""
        if self.recipe == "mxfp8":
            return of_e8m0(self.scale)
        if self.recipe == "nvfp4":
            return of_e4m3(self.scale) * (_ONE / _scale_to(F32(2688), self.amax))
        return np.atleast_2d(self.scale)


def takes(recipe: str, shape: tuple[int, ...]) -> bool:
    """A matrix with elements, whose sides the blocks of a recipe divide."""
    side = _SIDES.get(recipe, 1)
    if recipe not in RECIPES or len(shape) < 2:
        return False
    rows = int(np.prod(shape[:-1]))
    return rows * shape[-1] > 0 and rows % side == 0 and shape[-1] % side == 0


def quantise(
    values: Array, recipe: str, before: Quantised | None = None, bug: str = ""
) -> Quantised:
    """Quantises a tensor that the recipe takes; `before` is what it was."""
    size = _sizes(values)
    amax = size.max()
    delayed = before.delayed if before else Delayed()
    if before and bug == "scales_of_before":
        size = _sizes(before.values())
    into, scale = _scales(recipe, size, delayed)
    scaled = _matrix(values) * _spread(into, size)
    if bug == "codes_too_small":
        scaled = scaled * F32(0.96875)
    codes = e2m1(scaled) if recipe == "nvfp4" else e4m3(scaled)
    if recipe == "fp8_delayed":
        delayed = _moved_on(delayed, amax, bug)
    if before and bug == "amax_of_before":
        amax = before.amax
    return Quantised(recipe, codes.reshape(values.shape), scale, amax, delayed)


def _sizes(values: Array) -> Array:
    """Magnitudes as amaxes see them."""
    return _matrix(np.abs(np.where(np.isnan(values), F32(0), values)))


def _matrix(values: Array) -> Array:
    return values.reshape(-1, values.shape[-1])


def _scales(recipe: str, size: Array, delayed: Delayed) -> tuple[Array, NDArray[Any]]:
    """What a block is multiplied by before it is rounded, and the scale that is kept of it."""
    if recipe == "fp8_delayed":
        return _both(np.atleast_2d(delayed.next_scale))
    if recipe == "fp8_current":
        return _both(np.atleast_2d(_scale_to(F32(448), size.max())))
    if recipe == "fp8_block":
        s = _scale_to(F32(448), _amaxes(size, 128, 128))
        into = (s.view(np.uint32) & np.uint32(0xFF800000)).view(F32)
        return into, _ONE / into
    if recipe == "mxfp8":
        codes = e8m0_not_below(_amaxes(size, 1, 32) * (_ONE / F32(448)))
        return np.ldexp(F32(1), 127 - codes.astype(np.int32)), codes
    s = _scale_to(F32(2688), size.max())
    codes = e4m3(_amaxes(size, 16, 16) * (s * (_ONE / F32(6))))
    return np.minimum(_ONE / (of_e4m3(codes) * (_ONE / s)), _LARGEST), codes


def _both(s: Array) -> tuple[Array, Array]:
    return s, (_ONE / s).reshape(1)


def _scale_to(largest: np.float32, amax: Any) -> Array:
    """What brings an amax to that; 1 where there is nothing to bring."""
    s = np.minimum(largest / amax, _LARGEST)
    return np.where((amax == 0) | np.isinf(amax), F32(1), s)


def _amaxes(size: Array, rows: int, columns: int) -> Array:
    """The largest magnitude of each block."""
    blocks = size.reshape(size.shape[0] // rows, rows, size.shape[1] // columns, columns)
    largest: Array = blocks.max(axis=(1, 3))
    return largest


def _spread(of_blocks: Array, matrix: Array) -> Array:
    """One of each element."""
    rows, columns = (
        whole // part for whole, part in zip(matrix.shape, of_blocks.shape, strict=True)
    )
    return of_blocks.repeat(rows, axis=0).repeat(columns, axis=1)


def _moved_on(delayed: Delayed, amax: np.float32, bug: str) -> Delayed:
    older = delayed.history if bug == "history_stands" else np.roll(delayed.history, -1)
    history = older.copy()
    history[-1] = amax
    largest = amax if bug == "next_by_newest" else history.max()
    moves = largest > 0 and np.isfinite(largest)
    return Delayed(history, F32(_scale_to(F32(448), largest)) if moves else delayed.next_scale)
