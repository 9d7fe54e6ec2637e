"""Safetensors files, as much of them as a NumPy engine needs, and tensors with parts in them.

A bf16 number is a float32 whose low half is zero. It knows nothing of ranks, checkpoints or the
protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .formats import Array
from .recipes import Delayed, Quantised
from .scaled import Scaled

Stored = tuple[str, NDArray[Any]]  # the name of a type, and numbers of it

_TAGS = {"fp32": "F32", "bf16": "BF16", "fp16": "F16", "codes": "U8"}
_TYPES = {tag: name for name, tag in _TAGS.items()}
_NUMPY = {"fp32": "<f4", "bf16": "<u2", "fp16": "<f2", "codes": "u1"}


def parts_of_scaled(scaled: Scaled) -> dict[str, Stored]:
    """What stands behind the key of a state, beside its values."""
    name = "codes" if scaled.raw.dtype == np.uint8 else "fp16"
    scale = np.full(1, scaled.scale, np.float32)
    return {"/raw": (name, scaled.raw), "/scale": ("fp32", scale)}


def parts_of_quantised(quantised: Quantised, rows: slice) -> dict[str, Stored]:
    """The same of a parameter's rows; but codes and scales of mxfp8 all is of the whole tensor."""
    q = quantised
    codes: NDArray[Any] = q.codes[rows]
    scale = q.scale
    if q.recipe == "mxfp8":
        of_row = q.scale.reshape(q.codes.shape[0], -1, q.scale.shape[-1])[rows]
        scale = of_row.reshape(-1, q.scale.shape[-1])
    if q.recipe == "nvfp4":
        codes = codes[..., 0::2] | codes[..., 1::2] << 4
    kind = "codes" if scale.dtype == np.uint8 else "fp32"
    parts: dict[str, Stored] = {"/raw": ("codes", codes), "/scale": (kind, scale)}
    if q.recipe == "nvfp4":
        parts["/amax"] = ("fp32", np.full(1, q.amax, np.float32))
    if q.recipe == "fp8_delayed":
        parts["/history"] = ("fp32", q.delayed.history)
        parts["/next_scale"] = ("fp32", np.full(1, q.delayed.next_scale, np.float32))
    return parts


def quantised_of(recipe: str, parts: dict[str, NDArray[Any]]) -> Quantised:
    """The parameter that all rows of these parts are of."""
    codes = parts["/raw"]
    if recipe == "nvfp4":
        codes = np.stack([codes & 0xF, codes >> 4], axis=-1).reshape(*codes.shape[:-1], -1)
    delayed = Delayed()
    if recipe == "fp8_delayed":
        delayed = Delayed(parts["/history"], parts["/next_scale"][0])
    amax = parts["/amax"][0] if recipe == "nvfp4" else np.float32(0)
    return Quantised(recipe, codes, parts["/scale"], amax, delayed)


def encoded(tensors: dict[str, Stored]) -> bytes:
    """A safetensors file: the header's length, the header, and all numbers in its order."""
    header: dict[str, Any] = {}
    parts: list[bytes] = []
    end = 0
    for key, (name, values) in tensors.items():
        part = _little_endian(values, name)
        span = [end, end + len(part)]
        header[key] = {"dtype": _TAGS[name], "shape": list(values.shape), "data_offsets": span}
        parts.append(part)
        end = span[1]
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(parts)


def decoded(data: bytes) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file, bf16 ones as float32. Raises ValueError: it is none."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 + length:
        raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
    body = data[8 + length :]
    entries = json.loads(data[8 : 8 + length])
    return {key: _tensor(key, at, body) for key, at in entries.items() if key != "__metadata__"}


def read(path: str) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file. Raises OSError and ValueError."""
    return decoded(Path(path).read_bytes())


def _little_endian(values: NDArray[Any], name: str) -> bytes:
    if name == "bf16":
        values = np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)
    return values.astype(_NUMPY[name]).tobytes()


def _tensor(key: str, at: dict[str, Any], body: bytes) -> NDArray[Any]:
    begin, end = at["data_offsets"]
    name = _TYPES.get(at["dtype"])
    shape = tuple(at["shape"])
    if name is None:
        raise ValueError(f"{key}: type {at['dtype']}, known are {', '.join(_TYPES)}")
    bytes_ = np.dtype(_NUMPY[name]).itemsize * int(np.prod(shape))
    if not 0 <= begin <= end <= len(body) or end - begin != bytes_:
        raise ValueError(f"{key}: bytes [{begin}, {end}) of {len(body)} for shape {list(shape)}")
    numbers = np.frombuffer(body[begin:end], _NUMPY[name]).reshape(shape)
    if name != "bf16":
        return numbers.astype(numbers.dtype.newbyteorder("="))
    widened: Array = (numbers.astype(np.uint32) << np.uint32(16)).view(np.float32)
    return widened
