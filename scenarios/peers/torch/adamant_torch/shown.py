"""What replies and files of an engine show: a number, a header, a failure, what is in files.

Knows the protocol's replies and none of PyTorch's modules.
"""

from __future__ import annotations

import hashlib
import json
from itertools import product
from pathlib import Path

from adamant_torch import tensor_file
from adamant_torch.protocol import Message

PARTS = ("", "/main", "/exp_avg", "/exp_avg_sq")  # of a parameter, as keys say it


def element(state: Message, rank: int, key: str, index: int) -> float:
    """Return one number that a rank shows, as `local/NAME…` or `whole/NAME…`, row-major."""
    tensor = tensor_file.read(state["ranks"][rank]["file"])[key]
    return float(tensor.flatten()[index])


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


def failure(reply: Message) -> str:
    """Return what a rank says that failed, those first that say why; else "no failure"."""
    for outcome in ("error", "died", "timed_out"):
        for one in reply.get("ranks") or [reply]:
            if one["outcome"] == outcome:
                return str({key: value for key, value in one.items() if key != "id"})
    return "no failure"


def digests(directory: Path, pattern: str) -> dict[str, str]:
    """Return a digest of each file beneath `directory` whose name is like `pattern`, by name."""
    paths = sorted(directory.rglob(pattern))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}
