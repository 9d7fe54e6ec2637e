"""An engine that speaks the protocol and learns nothing: weights stay what they were at `open`.

`python3 stub_engine.py` is correct as long as nobody steps with a gradient. It needs the standard
library alone, so that tests of a harness run on any machine with Python. Every rank is simulated
here; there is no process but this one.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
OK: Json = {"outcome": "ok"}

HELLO: Json = {
    "version": 1,
    "engine": "stub",
    "versions": {},
    "arithmetic": "te",
    "capabilities": {
        "layouts": ["fsdp2"],
        "ranks_max": 4,
        "replicate_max": 1,
        "precisions": [
            {"param": ["fp32"], "grad": ["fp32"], "main": ["none"],
             "exp_avg": ["fp32"], "exp_avg_sq": ["fp32"]}
        ],
        "own_precision": False,
        "gradient_type": "grad",
        "optimizers": ["adamw"],
        "step_counters": ["group"],
        "bias_correction": [True],
        "clip": False,
        "loss_scale": ["none"],
        "unscales_in_place": False,
        "set": ["lr", "betas", "eps", "weight_decay"],
        "gradients": ["exact"],
        "zero_grad": ["none"],
        "save": False,
        "load": False,
        "loads_in_any_order": False,
        "can_crash": False,
        "detects_damage": [],
        "local_gradients": False,
        "carries_groups": False,
    },
    "options": {"mood": ["calm", "restless"]},
}  # fmt: skip


class World:
    """Parameters as raw fp32 bytes, and counters."""

    def __init__(self, request: Json) -> None:
        self.ranks = request["world"]["shard"] * request["world"]["replicate"]
        self.params = request["params"]
        self.groups = request["groups"]
        self.values = tensors_of(Path(request["initial"]).read_bytes())
        self.steps = 0

    def shards(self, rank: int) -> Iterator[Json]:
        """Rows by ceiling division."""
        for p in self.params:
            rows, *others = p["shape"]
            full = -(-rows // self.ranks)
            begin, end = min(rows, rank * full), min(rows, (rank + 1) * full)
            offsets = [begin, *[0] * len(others)]
            yield {"name": p["name"], "offsets": offsets, "shape": [end - begin, *others]}

    def tensors(self, rank: int, whole: bool) -> dict[str, tuple[list[int], bytes]]:
        """What a rank's file holds."""
        found = {}
        for p, at in zip(self.params, self.shards(rank), strict=True):
            row = 4 * math.prod(p["shape"][1:])
            begin = at["offsets"][0] * row
            data = self.values[p["name"]]
            rows = data[begin : begin + at["shape"][0] * row]
            found[f"local/{p['name']}"] = (at["shape"], rows)
            for kind in ("exp_avg", "exp_avg_sq"):
                found[f"local/{p['name']}/{kind}"] = (at["shape"], bytes(len(rows)))
            if whole:
                found[f"whole/{p['name']}"] = (p["shape"], data)
        return found


class Engine:
    """One world at a time."""

    def __init__(self) -> None:
        self.world: World | None = None

    def answer(self, line: str) -> Json:
        """The reply to a line."""
        try:
            request = json.loads(line)
            number = int(request["id"])
        except (ValueError, KeyError, TypeError):
            return {"id": None, **protocol_error("no request with an id")}
        try:
            return {"id": number, **self.reply(request)}
        except KeyError as missing:
            return {"id": number, **protocol_error(f"field {missing} is missing")}
        except OSError as problem:
            return {"id": number, **error("OSError", str(problem))}

    def reply(self, request: Json) -> Json:
        """The same without the id."""
        name = request.get("request")
        if name == "hello":
            right = request.get("version") == 1
            return {**OK, **HELLO} if right else protocol_error("version 1 is spoken here")
        if name == "open":
            self.world = World(request)
            ranks = range(self.world.ranks)
            return {**OK, "ranks": [{**OK, "shards": list(self.world.shards(r))} for r in ranks]}
        if name == "close":
            self.world = None
            return OK
        if name not in ("backward", "step", "zero_grad", "set", "state"):
            return protocol_error(f"unknown request {name}")
        if self.world is None:
            return protocol_error(f"{name}: no world is open")
        return {
            **OK,
            "ranks": [self.of_rank(self.world, r, request) for r in range(self.world.ranks)],
        }

    def of_rank(self, world: World, rank: int, request: Json) -> Json:
        """One rank's part of a reply."""
        if request["request"] == "step":
            world.steps += rank == 0
            return {**OK, "applied": True}
        if request["request"] == "set" and rank == 0:
            for change in request.get("groups", []):
                next(g for g in world.groups if g["name"] == change["name"]).update(change)
        return self.state(world, rank, request) if request["request"] == "state" else OK

    def state(self, world: World, rank: int, request: Json) -> Json:
        """A file, and what is not in it."""
        path = f"{request['prefix']}-rank-{rank}.safetensors"
        Path(path).write_bytes(file_of(world.tensors(rank, request["whole"])))
        numbers = {"steps": world.steps, "has_gradient": False}
        scale = {"loss_scale": 1.0, "skipped": False, "norm": 0.0, "growth_tracker": 0}
        shards = [{**at, **numbers} for at in world.shards(rank)]
        return {**OK, "file": path, "shards": shards, "groups": world.groups, "scale": scale}


def error(kind: str, text: str) -> Json:
    """The launcher's own."""
    return {"outcome": "error", "error": {"type": kind, "text": text}}


def protocol_error(text: str) -> Json:
    """Nothing has changed."""
    return error("protocol", text)


def tensors_of(data: bytes) -> dict[str, bytes]:
    """Raw bytes by name."""
    length = int.from_bytes(data[:8], "little")
    body = data[8 + length :]
    entries = json.loads(data[8 : 8 + length])
    entries.pop("__metadata__", None)
    return {key: body[slice(*at["data_offsets"])] for key, at in entries.items()}


def file_of(tensors: dict[str, tuple[list[int], bytes]]) -> bytes:
    """fp32 tensors as safetensors."""
    header, end = {}, 0
    for key, (shape, data) in tensors.items():
        header[key] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + len(data)]}
        end += len(data)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(data for _, data in tensors.values())


def main() -> None:
    """Line by line, until there are no more."""
    engine = Engine()
    for line in sys.stdin:
        print(json.dumps(engine.answer(line)), flush=True)


if __name__ == "__main__":
    main()
