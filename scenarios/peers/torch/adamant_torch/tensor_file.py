"""Safetensors files by the standard library and torch: header length, header in JSON, raw bits.

Floating-point types of the protocol alone; little endian, as every machine that PyTorch runs on.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from pathlib import Path

import torch

NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}
TYPES = {name: dtype for dtype, name in NAMES.items()}


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """Return the bits of `tensor`, row-major. Needs neither numpy nor a copy element by element."""
    dense = tensor.detach().contiguous()
    if dense.numel() == 0:
        return b""
    return ctypes.string_at(dense.data_ptr(), dense.numel() * dense.element_size())


def write(path: str, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write `tensors` in the order given; those without elements keep their shape."""
    header: dict[str, object] = {}
    parts: list[bytes] = []
    begin = 0
    for name, tensor in tensors.items():
        bits = raw_bytes(tensor)
        header[name] = {
            "dtype": NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [begin, begin + len(bits)],
        }
        parts.append(bits)
        begin += len(bits)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.writelines(parts)


def read(path: str) -> dict[str, torch.Tensor]:
    """Return all tensors of a file, or raise `ValueError` that says where the file lies."""
    data = Path(path).read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise ValueError(f"{path}: not a safetensors file: header of {length} bytes")
    header = json.loads(data[8 : 8 + length])
    body = bytearray(data[8 + length :])
    return {
        name: _tensor(f"{path}: {name}", entry, body)
        for name, entry in header.items()
        if name != "__metadata__"
    }


def _tensor(where: str, entry: dict[str, object], body: bytearray) -> torch.Tensor:
    dtype = TYPES.get(str(entry["dtype"]))
    shape, offsets = entry["shape"], entry["data_offsets"]
    if dtype is None or not isinstance(shape, list) or not isinstance(offsets, list):
        raise ValueError(f"{where}: dtype {entry['dtype']}; known: {', '.join(TYPES)}")
    numel = 1
    for size in shape:
        numel *= size
    begin, end = offsets
    if end - begin != numel * dtype.itemsize or not 0 <= begin <= end <= len(body):
        raise ValueError(f"{where}: bytes {begin} to {end} of {len(body)} for shape {shape}")
    if numel == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(body, dtype=dtype, count=numel, offset=begin).reshape(shape)
