"""The protocol's requests on a world: what a request's JSON becomes, and what is answered.

`answer` runs in the process that holds the world. It knows nothing of processes and pipes.
"""

from __future__ import annotations

import platform
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from . import checkpoint, tensors
from .recipes import RECIPES
from .tensors import Stored
from .zero1 import (
    BUGS,
    KINDS,
    ROUNDS_OTHERWISE,
    Group,
    Parameter,
    Rank,
    Settings,
    Types,
    World,
    rows_of,
)

Json = dict[str, Any]
OK: Json = {"outcome": "ok"}

_STATES = ["fp32", "bf16", "fp16", "fp8"]
_PRECISION = {
    "exp_avg": _STATES,
    "exp_avg_sq": _STATES,
    "grad": ["fp32", "bf16"],
    "state_scale": ["global", "local"],
}
HELLO: Json = {
    "version": 1,
    "engine": "numpy-zero1",
    "versions": {"numpy": np.__version__, "python": platform.python_version()},
    "arithmetic": "te",
    "capabilities": {
        "layouts": ["fsdp2"],
        "ranks_max": 8,
        "replicate_max": 4,
        "empty_tensors": True,
        "precisions": [
            {"param": ["fp32"], "main": ["none"], **_PRECISION},
            {"param": ["bf16"], "main": ["fp32", "fp16", "remainder"], **_PRECISION},
            {"param": [*RECIPES], "main": ["fp32"], **_PRECISION},
        ],
        "load_precisions": [],
        "own_precision": False,
        "gradient_type": "grad",
        "optimizers": ["adamw", "adam"],
        "step_counters": ["group"],
        "bias_correction": [True, False],
        "clip": True,
        "unscales_in_place": False,
        "gradients_in_place": False,
        "loss_scale": ["none", "fixed"],
        "set": ["lr", "betas", "eps", "weight_decay", "clip", "loss_scale"],
        "gradients": ["exact", "normal", "wild"],
        "zero_grad": ["none", "zeros"],
        "save": True,
        "load": True,
        "loads_in_any_order": True,
        "can_crash": True,
        "detects_damage": ["flip_byte", "truncate", "remove_file", "stale_file"],
        "local_gradients": True,
        "carries_groups": True,
        "promises": ["worlds", "repeated", "resumed"],
        "same_files": [".safetensors"],
    },
    "options": {},
    "asks": ["anew"],
}


class Refused(Exception):
    """A request that comes at the wrong time, or whose values have no meaning here."""


class Server:
    """Answers every request that needs a world; the first has to be `open`."""

    def __init__(self, bug: str = "none") -> None:
        assert bug in BUGS
        self.bug = bug
        self.world_: World | None = None

    def answer(self, request: Json) -> Json:
        """A reply without id. No request brings the process down."""
        do: Callable[[Json], Json] = getattr(self, f"do_{request['request']}")
        try:
            with np.errstate(all="ignore"):
                return {**OK, **do(request)}
        except (Refused, KeyError, TypeError, AttributeError, IndexError) as problem:
            return error("protocol", f"{request['request']}: {_text(problem)}")
        except checkpoint.Damaged as problem:
            return {**error("damaged_checkpoint", str(problem), kind="Damaged"), "holds": True}
        except checkpoint.Incompatible as problem:
            return {**error("incompatible_checkpoint", str(problem)), "holds": True}
        except (OSError, ValueError) as problem:
            name, lines = type(problem).__name__, traceback.format_exception(problem)
            return error(name, str(problem), kind=name, traceback="".join(lines))

    @property
    def world(self) -> World:
        """The open one."""
        if self.world_ is None:
            raise Refused("no world is open")
        return self.world_

    def each(self, reply: Json) -> Json:
        """The same of every rank."""
        return {"ranks": [{**OK, **reply} for _ in self.world.ranks]}

    def do_open(self, request: Json) -> Json:
        """A new world in the place of the one before."""
        self.world_ = None
        params = [_parameter(p) for p in request["params"]]
        groups = [_group(g) for g in request["groups"]]
        initial = tensors.read(request["initial"])
        self.world_ = World(_settings(request, self.bug), params, groups, initial)
        reply: Json = {"ranks": [{**OK, "shards": self.shards(r)} for r in self.world.ranks]}
        rounds_otherwise = self.bug in ROUNDS_OTHERWISE and not self.world.settings.types.scaled()
        return {**reply, "arithmetic": "interval"} if rounds_otherwise else reply

    def shards(self, rank: Rank) -> list[Json]:
        """Where this rank's rows of each parameter are."""
        found = []
        for p in self.world.params:
            rows = rows_of(p.shape[0], self.world.settings.shard, rank.index)
            offsets = [rows.start, *[0] * (len(p.shape) - 1)]
            shape = [rows.stop - rows.start, *p.shape[1:]]
            found.append({"name": p.name, "offsets": offsets, "shape": shape})
        return found

    def do_backward(self, request: Json) -> Json:
        """One file of gradient sums per rank."""
        sent = [tensors.read(path) for path in request["gradients"]]
        if len(sent) != len(self.world.ranks):
            raise Refused(f"{len(sent)} files of gradients for {len(self.world.ranks)} ranks")
        self.world.backward(sent, request["without"])
        if "overflow" in request:
            self._overflow(**request["overflow"])
        return self.each({})

    def _overflow(self, rank: int, name: str, index: int, value: str) -> None:
        shape = next(p.shape for p in self.world.params if p.name == name)
        place = np.unravel_index(index, shape)
        owners = [at for at in self.world.ranks if at.index == self.world.ranks[rank].index]
        row = int(place[0]) - rows_of(shape[0], self.world.settings.shard, owners[0].index).start
        local = (row, *place[1:])
        for owner in owners:
            owner.gradient[name][local] = float(value)

    def do_clip(self, _: Json) -> Json:
        """The norm is the same everywhere."""
        if self.world.settings.clip is None:
            raise Refused("there is no norm to scale to")
        return self.each({"norm": number(self.world.clip())})

    def do_step(self, _: Json) -> Json:
        """Applied, or skipped for an overflow."""
        return self.each({"applied": self.world.step()})

    def do_zero_grad(self, request: Json) -> Json:
        """No gradients, or zeros."""
        self.world.zero_grad(bool(request["set_to_none"]))
        return self.each({})

    def do_set(self, request: Json) -> Json:
        """Only what is named changes."""
        groups = {group.name: group for group in self.world.groups}
        for change in request.get("groups", []):
            group = groups[change["name"]]
            vars(group).update({key: change[key] for key in change if key in vars(group)})
        if "clip" in request:
            self.world.settings.clip = request["clip"]
        if "loss_scale" in request:
            self.world.settings.loss_scale = _scale(request["loss_scale"])
            self.world.skipped = False
        return self.each({})

    def do_state(self, request: Json) -> Json:
        """One file per rank, and what is not in tensors."""
        ranks = []
        for r, rank in enumerate(self.world.ranks):
            path = f"{request['prefix']}-rank-{r}.safetensors"
            Path(path).write_bytes(tensors.encoded(self.tensors(rank, request["whole"])))
            ranks.append({**OK, "file": path, **self.numbers(rank)})
        return {"ranks": ranks}

    def tensors(self, rank: Rank, whole: bool) -> dict[str, Stored]:
        """`local/…`, and with `whole` what a gather shows, in the types that are stored."""
        stored: dict[str, Stored] = {}
        for p in self.world.params:
            rows = self.parameter(rank, p)
            for kind in ("gradient", *KINDS):
                rows.update(self.rows(rank, kind, p))
            stored.update({f"local/{p.name}{part}": at for part, at in rows.items()})
            if whole:
                wholes = self.wholes(rank, p)
                stored.update({f"whole/{p.name}{part}": at for part, at in wholes.items()})
        return stored

    def parameter(self, rank: Rank, p: Parameter) -> dict[str, Stored]:
        """A rank's rows of it, and what they are read from."""
        own = self.world.cut(rank, rank.weights[p.name])
        if p.name not in rank.quantised:
            return {"": (self.world.settings.types.plain(), own)}
        rows = rows_of(p.shape[0], self.world.settings.shard, rank.index)
        parts = tensors.parts_of_quantised(rank.quantised[p.name], rows)
        return {"": ("fp32", own), **parts}

    def rows(self, rank: Rank, kind: str, p: Parameter) -> dict[str, Stored]:
        """Likewise of a gradient or a state, where there is one."""
        world, key = self.world, f"/{kind}"
        values = getattr(rank, kind).get(p.name)
        if values is None or (kind == "main" and world.settings.types.main == "none"):
            return {}
        if (kind, p.name) not in rank.scaled:
            return {key: (self.type_of(kind), values)}
        if self.bug == "values_before_rounding":
            values = rank.shown.get((kind, p.name), values)
        parts = tensors.parts_of_scaled(rank.scaled[kind, p.name])
        return {key: ("fp32", values), **{key + part: at for part, at in parts.items()}}

    def type_of(self, kind: str) -> str:
        """Of what is kept without a scale."""
        settings = self.world.settings
        return settings.grad_type if kind == "gradient" else settings.types.of(kind)

    def wholes(self, rank: Rank, p: Parameter) -> dict[str, Stored]:
        """All rows, as this rank sees them."""
        plain = "fp32" if p.name in rank.quantised else self.world.settings.types.plain()
        stored: dict[str, Stored] = {"": (plain, rank.weights[p.name])}
        for kind in ("gradient", *KINDS):
            if not self.rows(rank, kind, p):
                continue
            name = "fp32" if (kind, p.name) in rank.scaled else self.type_of(kind)
            stored[f"/{kind}"] = (name, self.world.whole(rank, kind, p.name))
        return stored

    def numbers(self, rank: Rank) -> Json:
        """Counters, settings and the scaler of one rank."""
        world = self.world
        shards = [
            {**at, "steps": rank.steps, "has_gradient": at["name"] in rank.gradient}
            for at in self.shards(rank)
        ]
        scale = {
            "loss_scale": number(world.settings.loss_scale or 1.0),
            "skipped": world.skipped,
            "norm": number(float(world.norm)),
            "growth_tracker": 0,
            "hysteresis": 0,
            "inverse": number(float(world.inverse())),
            "coefficient": number(float(world.coefficient)),
            "max_norm": world.settings.clip,
        }
        return {"shards": shards, "groups": [vars(g) for g in world.groups], "scale": scale}

    def do_save(self, request: Json) -> Json:
        """The ranks' files and the index."""
        crash = request.get("crash")
        at = (crash["rank"], crash["operation"]) if crash else None
        files = checkpoint.save(self.world, Path(request["directory"]), at)
        return {**self.each({}), "files": files, "not_carried": []}

    def do_load(self, request: Json) -> Json:
        """All or nothing."""
        checkpoint.load(self.world, Path(request["directory"]))
        return {**self.each({}), "not_carried": []}


def error(type_: str, text: str, **more: str) -> Json:
    """A launcher's own error. What it knows of an exception stands beside its type and text."""
    return {"outcome": "error", "error": {"type": type_, "text": text, **more}}


def number(value: float) -> float | str:
    """A number as JSON has it."""
    return value if np.isfinite(value) else str(value)


def _text(problem: Exception) -> str:
    return f"field {problem} is missing" if isinstance(problem, KeyError) else str(problem)


def _parameter(at: Json) -> Parameter:
    return Parameter(at["name"], tuple(at["shape"]), at["group"])


def _group(at: Json) -> Group:
    return Group(
        at["name"], at["lr"], tuple(at["betas"]), at["eps"], at["weight_decay"],
        at["bias_correction"],
    )  # fmt: skip


def _scale(setting: float | str) -> float | None:
    if setting == "dynamic":
        raise Refused("a dynamic loss scale was not offered")
    return None if setting == "none" else float(setting)


def _settings(request: Json, bug: str) -> Settings:
    world, optimizer, precision = request["world"], request["optimizer"], request["precision"]
    if request["layout"] != "fsdp2":
        raise Refused(f"layout {request['layout']} was not offered")
    if optimizer["step_counter"] != "group":
        raise Refused(f"step counters by {optimizer['step_counter']} were not offered")
    return Settings(
        shard=world["shard"],
        replicate=world["replicate"],
        microbatches=request["microbatches"],
        mode=optimizer["mode"],
        types=Types(
            precision["param"], precision["main"], precision["exp_avg"], precision["exp_avg_sq"],
            precision.get("state_scale", "global"),
        ),
        grad_type=precision["grad"],
        clip=optimizer["clip"],
        loss_scale=_scale(optimizer["loss_scale"]),
        bug=bug,
    )  # fmt: skip
