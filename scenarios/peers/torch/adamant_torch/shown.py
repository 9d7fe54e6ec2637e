"""What replies and files of an engine show: a number, a header, a failure, what is in files.

Knows the protocol's replies and none of PyTorch's modules.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from itertools import product
from pathlib import Path
from typing import Any

from adamant_torch import tensor_file
from adamant_torch.protocol import Message

PARTS = ("", "/main", "/exp_avg", "/exp_avg_sq")  # of a parameter, as keys say it


def element(state: Message, rank: int, key: str, index: int, missing: float | None = None) -> float:
    """Return one number that a rank shows, as `local/NAME…` or `whole/NAME…`, row-major.

    Where there is no such tensor it is `missing`, if that is given: a moment that was not made yet.
    """
    tensors = tensor_file.read(state["ranks"][rank]["file"])
    if missing is not None and key not in tensors:
        return missing
    return float(tensors[key].flatten()[index])


def shard(state: Message, rank: int, name: str) -> Message:
    """Return what a rank says of its rows of a parameter, its steps, and its gradient."""
    return _named(state["ranks"][rank]["shards"], name)


def group(state: Message, rank: int, name: str) -> Message:
    """Return the settings of a group, as a rank has them."""
    return _named(state["ranks"][rank]["groups"], name)


def _named(entries: list[Message], name: str) -> Message:
    return next(entry for entry in entries if entry["name"] == name)


def rows(shard: Message) -> str:
    """Return which rows of a parameter a rank has, in words."""
    begin, count = shard["offsets"][0], shard["shape"][0]
    return f"rows {begin} to {begin + count}" if count else "no rows"


def single(value: float | str) -> float:
    """Return a number of a reply, in which `inf` is a text, in binary32."""
    narrow: float = struct.unpack("<f", struct.pack("<f", float(value)))[0]
    return narrow


def header(state: Message, rank: int) -> Message:
    """Return what a rank shows: type, shape and place in its file, by key."""
    with open(state["ranks"][rank]["file"], "rb") as file:
        found: Message = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return found


def found(state: Message) -> dict[str, object]:
    """Return what a load restores: steps, and the bits of weights and moments, whole in any world.

    Zeros at the end of a tensor are left out: a moment that was not made yet is as good as zeros.
    """
    steps: dict[str, object] = {}
    tensors: dict[str, dict[int, bytes]] = {}
    for said in state["ranks"]:
        shown = tensor_file.read(said["file"])
        for shard, part in product(said["shards"], PARTS):
            steps[shard["name"] + "/step"] = shard["steps"]
            rows = tensors.setdefault(shard["name"] + part, {})
            tensor = shown.get(f"local/{shard['name']}{part}")
            if tensor is not None and tensor.numel() > 0:
                rows[shard["offsets"][0]] = tensor_file.raw_bytes(tensor)
    whole = {key: b"".join(rows[row] for row in sorted(rows)) for key, rows in tensors.items()}
    return steps | {key: bits.rstrip(b"\0") for key, bits in whole.items()}


def failed(reply: Message) -> Message:
    """Return what a rank says that failed, those first that say why; nothing where none did."""
    for outcome in ("error", "died", "timed_out"):
        for one in reply.get("ranks") or [reply]:
            if one["outcome"] == outcome:
                return {key: value for key, value in one.items() if key != "id"}
    return {}


def failure(reply: Message) -> str:
    """Return that in words; else "no failure"."""
    said = failed(reply)
    if error := said.get("error"):
        where = f", at {error['where']}" if "where" in error else ""
        return f"{error['type']}: {error['text']}{where}"
    told = (f"{key} {value}" for key, value in said.items() if key != "outcome")
    return ", ".join([said["outcome"], *told]) if said else "no failure"


def is_like(reply: Message, text: str = "", **like: Any) -> bool:
    """Return whether a rank failed so: with this outcome, signal or type, and a text with this."""
    said = failed(reply) if reply else {}
    error = said.get("error", {})
    same = all({**said, **error}.get(key) == like[key] for key in like)
    return same and text in error.get("text", "")


def flip(file: str | os.PathLike[str], byte: int) -> None:
    """Change one bit of a file."""
    data = bytearray(Path(file).read_bytes())
    data[byte] ^= 0x10
    Path(file).write_bytes(data)


def digests(directory: Path, pattern: str) -> dict[str, str]:
    """Return a digest of each file beneath `directory` whose name is like `pattern`, by name."""
    paths = sorted(directory.rglob(pattern))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}
