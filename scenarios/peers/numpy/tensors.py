"""Number types and safetensors files, as much of both as a NumPy engine needs.

Numbers are always float32 arrays; a bf16 number is a float32 whose low half is zero. It knows
nothing of ranks, checkpoints or the protocol.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Stored = tuple[str, Array]  # "fp32" or "bf16", and numbers that the type can hold

_TAGS = {"fp32": "F32", "bf16": "BF16"}
_TYPES = {tag: name for name, tag in _TAGS.items()}
_BYTES = {"fp32": 4, "bf16": 2}


def rounded(values: Array, name: str) -> Array:
    """Rounds to the nearest number of a type, ties to even; any NaN becomes one NaN."""
    if name == "fp32":
        return values
    bits = np.ascontiguousarray(values).view(np.uint32)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    kept = (bits + odd + np.uint32(0x7FFF)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(values), np.float32(np.nan), kept.view(np.float32))


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


def decoded(data: bytes) -> dict[str, Array]:
    """The tensors of a safetensors file in float32. Raises ValueError where it is none."""
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 + length:
        raise ValueError(f"a header of {length} bytes in a file of {len(data)}")
    body = data[8 + length :]
    entries = json.loads(data[8 : 8 + length])
    return {key: _tensor(key, at, body) for key, at in entries.items() if key != "__metadata__"}


def read(path: str) -> dict[str, Array]:
    """The tensors of a safetensors file in float32. Raises OSError and ValueError."""
    return decoded(Path(path).read_bytes())


def _little_endian(values: Array, name: str) -> bytes:
    if name == "fp32":
        return values.astype("<f4").tobytes()
    high = np.ascontiguousarray(values).view(np.uint32) >> np.uint32(16)
    return high.astype("<u2").tobytes()


def _tensor(key: str, at: dict[str, Any], body: bytes) -> Array:
    begin, end = at["data_offsets"]
    name = _TYPES.get(at["dtype"])
    shape = tuple(at["shape"])
    if name is None:
        raise ValueError(f"{key}: type {at['dtype']}, known are {', '.join(_TYPES)}")
    if not 0 <= begin <= end <= len(body) or end - begin != _BYTES[name] * int(np.prod(shape)):
        raise ValueError(f"{key}: bytes [{begin}, {end}) of {len(body)} for shape {list(shape)}")
    if name == "fp32":
        return np.frombuffer(body[begin:end], "<f4").astype(np.float32).reshape(shape)
    bits = np.frombuffer(body[begin:end], "<u2").astype(np.uint32) << np.uint32(16)
    return bits.view(np.float32).reshape(shape)
