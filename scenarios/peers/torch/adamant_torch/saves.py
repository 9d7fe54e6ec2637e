"""Ways around what PyTorch's saves leave to their users: where they go, and what belongs to one.

Each function that writes is a collective: rank 0 acts, and the others wait for it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path

import torch.distributed as dist

from adamant_torch.protocol import EngineError

SUMS = "sums.json"  # comes after all other files in the order of their names


def on_rank_0(action: Callable[..., None]) -> Callable[..., None]:
    """Have rank 0 act once all ranks are here, and all go on once it has."""

    @wraps(action)
    def together(*arguments: str) -> None:
        dist.barrier()
        if dist.get_rank() == 0:
            action(*arguments)
        dist.barrier()

    return together


# --- saves: new_directory -----------------------------------------------------------------------


def beside(directory: str) -> str:
    """Return what the paths begin with that saves to `directory` may use beside it."""
    parent, name = os.path.split(os.path.abspath(directory))
    return os.path.join(parent, f".{name}.")


def new_directory(directory: str) -> str:
    """Return an empty directory beside the one that `directory` is a link to."""
    paths = [f"{beside(directory)}{number}" for number in (0, 1)]
    target = next(path for path in paths if path != linked(directory))
    on_rank_0(remove)(target)  # what a save that crashed has left
    return target


def linked(directory: str) -> str | None:
    """Return where a link leads, and nothing for what is none."""
    if not os.path.islink(directory):
        return None
    return os.path.join(os.path.dirname(os.path.abspath(directory)), os.readlink(directory))


@on_rank_0
def replace(directory: str, target: str) -> None:
    """Make `directory` a link to `target`. One rename does it: a crash leaves old or new whole.

    What is there must be such a link, or nothing.
    """
    used = linked(directory)
    link = f"{beside(directory)}link"
    Path(link).unlink(missing_ok=True)
    os.symlink(os.path.basename(target), link)
    os.replace(link, directory)
    if used is not None:
        remove(used)


def remove(directory: str) -> None:
    """Remove a directory with all that is in it, if it is there."""
    if not os.path.isdir(directory):
        return
    for path in sorted(Path(directory).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    os.rmdir(directory)


# --- files: checked -----------------------------------------------------------------------------


def sums_of(directory: str) -> dict[str, str]:
    """Return the checksum of each file, by its path in the directory."""
    files = sorted(path for path in Path(directory).rglob("*") if path.is_file())
    return {
        str(path.relative_to(directory)): hashlib.sha256(content_of(path)).hexdigest()
        for path in files
        if path.name != SUMS
    }


def content_of(path: Path) -> bytes:
    """Return what a file holds, the same for two files of the same tensors.

    safetensors orders the metadata of a header at random. Whether an older file of the same tensors
    is noticed must not depend on that, so the header's keys are sorted.
    """
    data = path.read_bytes()
    if path.suffix != ".safetensors":
        return data
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        header = json.dumps(json.loads(data[8:end]), sort_keys=True)
    except ValueError:
        return data
    return data[:8] + header.encode() + data[end:]


@on_rank_0
def seal(directory: str) -> None:
    """Write down the files of a save with their checksums."""
    Path(directory, SUMS).write_text(json.dumps(sums_of(directory)), encoding="utf-8")


def check(directory: str) -> None:
    """Raise `EngineError` unless the files of a directory are those of one save."""
    found = sums_of(directory)
    try:
        expected = json.loads(Path(directory, SUMS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise EngineError(f"load: there is no whole list of the save's files: {error}") from error
    names = {*expected, *found}
    other = sum(expected.get(name) != found.get(name) for name in names)
    if other > 0:
        raise EngineError(f"load: {other} of {len(names)} files are not those of the save")
