"""What replies and files of an engine show: a number, a header, a failure, what is in files.

Knows the protocol's replies and none of PyTorch's modules.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from adamant_torch import tensor_file
from adamant_torch.protocol import Message


def element(state: Message, rank: int, key: str, index: int) -> float:
    """Return one number that a rank shows, as `local/NAME…` or `whole/NAME…`, row-major."""
    tensor = tensor_file.read(state["ranks"][rank]["file"])[key]
    return float(tensor.flatten()[index])


def header(state: Message, rank: int) -> Message:
    """Return what a rank shows: type, shape and place in its file, by key."""
    with open(state["ranks"][rank]["file"], "rb") as file:
        found: Message = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    return found


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
