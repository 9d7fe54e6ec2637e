"""Checkpoints: one safetensors file per rank of the first replica, and an index over them.

    index.json        {"checksum": crc32 of content as sorted JSON, "content": {...}}
    content           {"generation", "steps", "groups", "clip", "loss_scale", "types",
                       "files": [...]}
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
from numpy.typing import NDArray

from .formats import Array
from .scaled import Scaled
from .tensors import Stored, decoded, encoded, parts_of_quantised, parts_of_scaled, quantised_of
from .zero1 import KINDS, Group, Parameter, Rank, Types, World, rows_of

Part = dict[str, NDArray[Any]]  # a file's tensors


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
    savers = range(world.settings.shard)
    disks = [Disk(directory, crash[1] if crash and crash[0] == r else None) for r in savers]
    disks[0](os.makedirs, directory, 0o777, True)
    older = _older_index(directory)
    first = os.getpid() if world.settings.bug == "saves_count_processes" else 0
    goes_on = world.settings.bug != "saves_in_place"
    generation = older["generation"] + goes_on if older else first
    files = []
    for r, disk in enumerate(disks):
        data = encoded(_tensors(world, world.ranks[r]))
        name = f"rank-{r}-of-{len(disks)}.{generation}.safetensors"
        disk.write(name, data)
        files.append({"name": name, "bytes": len(data), "crc32": zlib.crc32(data)})
    disks[0].write("index.json.new", _index(world, generation, files))
    disks[0](os.replace, directory / "index.json.new", directory / "index.json")
    for old in older["files"] if older and goes_on else []:
        disks[0]((directory / old["name"]).unlink, True)
    return sorted([*(str(file["name"]) for file in files), "index.json"])


def load(world: World, directory: Path) -> None:
    """Makes the world what was saved, on as many ranks as it has. Raises Damaged, Incompatible.

    Everything is read and compared before anything changes.
    """
    checks = world.settings.bug not in ("no_checksums", "saves_in_place")
    content = _read_index(directory, checks)
    parts = [_read_part(directory, file, checks) for file in content["files"]]
    _compare(world, content, parts)
    then = Types(**content["types"])
    for p in world.params:
        for kind in KINDS:
            _restore_state(world, kind, p, then, parts)
        _restore_parameter(world, p, then, parts)
    for rank in world.ranks:
        if world.settings.bug != "stale_step":
            rank.steps = content["steps"]
    world.groups = [Group(**group) for group in content["groups"]]
    world.settings.clip, world.settings.loss_scale = content["clip"], content["loss_scale"]
    world.zero_grad(set_to_none=True)
    world.skipped, world.loaded = False, True


def _tensors(world: World, rank: Rank) -> dict[str, Stored]:
    """A rank's rows; of parameters where they are not the main weights themselves."""
    found: dict[str, Stored] = {}
    for p in world.params:
        for kind in KINDS:
            key = f"{kind}/{p.name}"
            found[key] = ("fp32", getattr(rank, kind)[p.name])
            if (kind, p.name) in rank.scaled:
                parts = parts_of_scaled(rank.scaled[kind, p.name])
                found.update({key + part: stored for part, stored in parts.items()})
        if world.settings.types.main != "none":  # they may come from a load of other types
            found[f"weights/{p.name}"] = ("fp32", world.cut(rank, rank.weights[p.name]))
        if p.name in rank.quantised:
            rows = rows_of(p.shape[0], world.settings.shard, rank.index)
            parts = parts_of_quantised(rank.quantised[p.name], rows)
            found.update({f"weights/{p.name}{part}": stored for part, stored in parts.items()})
    return found


def _index(world: World, generation: int, files: list[dict[str, Any]]) -> bytes:
    content = {
        "generation": generation,
        "steps": world.ranks[0].steps,
        "groups": [vars(group) for group in world.groups],
        "clip": world.settings.clip,
        "loss_scale": world.settings.loss_scale,
        "types": vars(world.settings.types),
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


def _read_part(directory: Path, file: dict[str, Any], checks: bool) -> Part:
    try:
        data = (directory / file["name"]).read_bytes()
    except OSError as problem:
        raise Damaged(f"{file['name']}: {problem}") from problem
    if checks and len(data) != file["bytes"]:
        raise Damaged(f"{file['name']}: {len(data)} of {file['bytes']} bytes")
    if checks and zlib.crc32(data) != file["crc32"]:
        raise Damaged(f"{file['name']}: its checksum is not the saved one")
    return decoded(data)


def _whole(parts: list[Part], key: str) -> NDArray[Any]:
    return np.concatenate([part[key] for part in parts])


def _compare(world: World, content: dict[str, Any], parts: list[Part]) -> None:
    shapes = {f"{kind}/{p.name}": p.shape for kind in KINDS for p in world.params}
    keys = [key for key in parts[0] if key.startswith(tuple(f"{kind}/" for kind in KINDS))]
    saved = {key: _whole(parts, key).shape for key in keys if not key.endswith(("/raw", "/scale"))}
    if shapes != saved:
        raise Incompatible(f"tensors of other names or shapes: saved {saved}, here {shapes}")
    names = [group.name for group in world.groups]
    if names != [group["name"] for group in content["groups"]]:
        raise Incompatible(f"groups of other names than {names}")


def _restore_state(world: World, kind: str, p: Parameter, then: Types, parts: list[Part]) -> None:
    """What was kept in the type of now stays; anything else is rounded anew."""
    key = f"{kind}/{p.name}"
    if f"{key}/raw" in parts[0] and then.of(kind) == world.settings.types.of(kind):
        scales = [_scale_for(world, rank, p, then, parts, key) for rank in world.ranks]
        if None not in scales:
            raw = _whole(parts, f"{key}/raw")
            for rank, scale in zip(world.ranks, scales, strict=True):
                scale = np.float32(1) if world.settings.bug == "load_drops_scale" else scale
                world.put_scaled(rank, kind, p, Scaled(world.cut(rank, raw), np.float32(scale)))
            return
    whole = _whole(parts, key)
    if world.settings.bug == "shard_as_whole" and kind != "main":
        wrong = [_shard_as_whole(world, rank, whole, parts, key) for rank in world.ranks]
        return world.hold(kind, p, [world.cut(*at) for at in zip(world.ranks, wrong, strict=True)])
    world.hold(kind, p, [world.cut(rank, whole) for rank in world.ranks])


def _scale_for(
    world: World, rank: Rank, p: Parameter, then: Types, parts: list[Part], key: str
) -> np.float32 | None:
    """That of a rank's rows, where these and no others shared one."""
    count, now = p.shape[0], world.settings
    own = slice(0, count)
    if now.types.state_scale == "local":
        own = rows_of(count, now.shard, rank.index)
    if own.start == own.stop or 0 in p.shape:
        return np.float32(1)
    for index, part in enumerate(parts):
        saved = slice(0, count)
        if then.state_scale == "local":
            saved = rows_of(count, len(parts), index)
        if saved == own:
            return np.float32(part[f"{key}/scale"][0])
    return None


def _restore_parameter(world: World, p: Parameter, then: Types, parts: list[Part]) -> None:
    """Likewise; new ones are made of the weights that were saved, before these are rounded.

    So are those that were not saved because they are the weights.
    """
    now, key = world.settings.types, f"weights/{p.name}"
    before = (then.recipe(p), "" if then.recipe(p) else then.plain())
    same = before == (now.recipe(p), "" if now.recipe(p) else now.plain())
    stays = same and now.main != "remainder" and key in parts[0]
    for rank in world.ranks:
        rank.quantised.pop(p.name, None)
    if not stays or (before[0] and world.settings.bug == "load_quantises"):
        whole = _whole(parts, f"main/{p.name}")
        return world.publish(p, [world.cut(rank, whole) for rank in world.ranks])
    weights, quantised = _whole(parts, key), None
    if before[0]:
        cut = ("/raw", "/scale") if before[0] == "mxfp8" else ("/raw",)
        names = [name for name in parts[0] if name.startswith(f"{key}/")]
        found = {name[len(key) :]: parts[0][name] for name in names}
        found.update({part: _whole(parts, key + part) for part in cut})
        quantised = quantised_of(before[0], found)
    for rank in world.ranks:
        world.put_parameter(rank, p, weights, quantised)


def _shard_as_whole(world: World, rank: Rank, whole: Array, parts: list[Part], key: str) -> Array:
    """The bug: a rank takes its own file's rows for the rows that it needs, whoever saved them."""
    wrong = np.zeros_like(whole)
    mine = wrong[rows_of(whole.shape[0], world.settings.shard, rank.index)]
    part = parts[min(rank.index, len(parts) - 1)][key][: len(mine)]
    mine[: len(part)] = part
    return wrong
