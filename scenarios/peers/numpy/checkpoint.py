"""Checkpoints: one safetensors file per rank of the first replica, and an index over them.

    index.json        {"checksum": crc32 of content as sorted JSON, "content": {...}}
    content           {"generation", "steps", "groups", "clip", "loss_scale", "files": [...]}
    file              {"name", "bytes", "crc32"}: its rows of every tensor, in rank order

A save writes files of a new generation, then replaces the index in one rename, then removes what
the older index named. So a crash leaves the old checkpoint or the new one, whole. It knows no
protocol.
"""

from __future__ import annotations

import json
import os
import signal
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tensors import Array, Stored, decoded, encoded
from zero1 import Group, Rank, World, rows_of

KINDS = ("main", "exp_avg", "exp_avg_sq")


class Damaged(Exception):
    """What is on disk is not what a save left there."""


class Incompatible(Exception):
    """A whole checkpoint, of another model."""


class Disk:
    """One rank's file operations in a checkpoint's directory; before the `crash_at`th it dies."""

    def __init__(self, directory: Path, crash_at: int | None) -> None:
        self.directory, self.left = directory, crash_at

    def __call__(self, operation: Callable[..., Any], *arguments: Any) -> Any:
        """Counts, and does it."""
        if self.left is not None:
            if self.left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            self.left -= 1
        return operation(*arguments)

    def write(self, name: str, data: bytes) -> None:
        """A new file in two writes, so that a crash can tear it, and on disk when this returns."""
        with self(open, self.directory / name, "wb", 0) as file:
            middle = len(data) // 2
            self(file.write, data[:middle])
            self(file.write, data[middle:])
            self(os.fsync, file.fileno())


def save(world: World, directory: Path, crash: tuple[int, int] | None) -> list[str]:
    """Saves, and returns the names of all files. `crash`: a rank, and the operation it dies at."""
    disks = [Disk(directory, crash[1] if crash and crash[0] == r else None) for r in _savers(world)]
    disks[0](os.makedirs, directory, 0o777, True)
    older = _older_index(directory)
    generation = older["generation"] + 1 if older else 0
    files = []
    for r, disk in enumerate(disks):
        data = encoded(_tensors(world, world.ranks[r]))
        name = f"rank-{r}-of-{len(disks)}.{generation}.safetensors"
        disk.write(name, data)
        files.append({"name": name, "bytes": len(data), "crc32": zlib.crc32(data)})
    disks[0].write("index.json.new", _index(world, generation, files))
    disks[0](os.replace, directory / "index.json.new", directory / "index.json")
    for old in older["files"] if older else []:
        disks[0]((directory / old["name"]).unlink, True)
    return sorted([*(str(file["name"]) for file in files), "index.json"])


def load(world: World, directory: Path) -> None:
    """Makes the world what was saved, on as many ranks as it has. Raises Damaged, Incompatible.

    Everything is read and compared before anything changes.
    """
    checks = world.settings.bug != "no_checksums"
    content = _read_index(directory, checks)
    parts = [_read_part(directory, file, checks) for file in content["files"]]
    whole = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    _compare(world, content, whole)
    for rank in world.ranks:
        _restore(world, rank, whole, parts)
        if world.settings.bug != "stale_step":
            rank.steps = content["steps"]
    world.groups = [Group(**group) for group in content["groups"]]
    world.settings.clip, world.settings.loss_scale = content["clip"], content["loss_scale"]
    world.zero_grad(set_to_none=True)
    world.skipped = False
    world.gather()


def _savers(world: World) -> range:
    return range(world.settings.shard)


def _tensors(world: World, rank: Rank) -> dict[str, Stored]:
    return {f"{kind}/{p.name}": ("fp32", getattr(rank, kind)[p.name])
            for kind in KINDS for p in world.params}  # fmt: skip


def _index(world: World, generation: int, files: list[dict[str, Any]]) -> bytes:
    content = {
        "generation": generation,
        "steps": world.ranks[0].steps,
        "groups": [vars(group) for group in world.groups],
        "clip": world.settings.clip,
        "loss_scale": world.settings.loss_scale,
        "files": files,
    }
    return json.dumps({"checksum": _checksum(content), "content": content}).encode()


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def _older_index(directory: Path) -> dict[str, Any] | None:
    """What a save replaces; something unreadable is nothing."""
    try:
        return _read_index(directory)
    except Damaged:
        return None


def _read_index(directory: Path, checks: bool = True) -> dict[str, Any]:
    try:
        index = json.loads((directory / "index.json").read_bytes())
        content: dict[str, Any] = index["content"]
        if checks and index["checksum"] != _checksum(content):
            raise Damaged("index.json: its checksum is not that of its content")
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise Damaged(f"index.json: {problem}") from problem
    return content


def _read_part(directory: Path, file: dict[str, Any], checks: bool) -> dict[str, Array]:
    try:
        data = (directory / file["name"]).read_bytes()
    except OSError as problem:
        raise Damaged(f"{file['name']}: {problem}") from problem
    if checks and len(data) != file["bytes"]:
        raise Damaged(f"{file['name']}: {len(data)} of {file['bytes']} bytes")
    if checks and zlib.crc32(data) != file["crc32"]:
        raise Damaged(f"{file['name']}: its checksum is not the saved one")
    return decoded(data)


def _compare(world: World, content: dict[str, Any], whole: dict[str, Array]) -> None:
    shapes = {f"{kind}/{p.name}": p.shape for kind in KINDS for p in world.params}
    saved = {key: values.shape for key, values in whole.items()}
    if shapes != saved:
        raise Incompatible(f"tensors of other names or shapes: saved {saved}, here {shapes}")
    names = [group.name for group in world.groups]
    if names != [group["name"] for group in content["groups"]]:
        raise Incompatible(f"groups of other names than {names}")


def _restore(
    world: World, rank: Rank, whole: dict[str, Array], parts: list[dict[str, Array]]
) -> None:
    for p in world.params:
        for kind in KINDS:
            values = whole[f"{kind}/{p.name}"]
            if world.settings.bug == "shard_as_whole" and kind != "main":
                values = _shard_as_whole(world, rank, values, parts, f"{kind}/{p.name}")
            getattr(rank, kind)[p.name] = world.cut(rank, values)


def _shard_as_whole(
    world: World, rank: Rank, whole: Array, parts: list[dict[str, Array]], key: str
) -> Array:
    """The bug: a rank takes its own file's rows for the rows that it needs, whoever saved them."""
    wrong = np.zeros_like(whole)
    mine = wrong[rows_of(whole.shape[0], world.settings.shard, rank.index)]
    part = parts[min(rank.index, len(parts) - 1)][key][: len(mine)]
    mine[: len(part)] = part
    return wrong
