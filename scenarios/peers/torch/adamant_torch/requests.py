"""Requests as types: what each must say, checked where it comes in.

A field that is missing or of a wrong type is a `ProtocolError` that names request and field.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from adamant_torch.protocol import Message, ProtocolError

T = TypeVar("T")


@dataclass(frozen=True)
class ParamSpec:
    """One parameter, as the scenario registers it."""

    name: str
    shape: tuple[int, ...]
    group: int = 0
    unit: int = 0


@dataclass(frozen=True)
class GroupSpec:
    """The settings of one group; group 0 holds the parameters that name none."""

    name: str
    lr: float
    betas: tuple[float, float]
    eps: float
    weight_decay: float


@dataclass(frozen=True)
class Precision:
    """Types by name: fp32, bf16, fp16, and none for no main weights."""

    param: str
    grad: str
    main: str
    exp_avg: str
    exp_avg_sq: str


@dataclass(frozen=True)
class Opening:
    """All of an `open`: the world and what is to be built in it."""

    shard: int
    replicate: int
    microbatches: int
    params: list[ParamSpec]
    groups: list[GroupSpec]
    mode: str
    clip: float | None
    loss_scale: float | str
    precision: Precision
    options: dict[str, str]
    initial: str
    anew: bool = False

    @property
    def ranks(self) -> int:
        """The number of rank processes."""
        return self.shard * self.replicate


@dataclass(frozen=True)
class Overflow:
    """A value that one rank puts into its local shard of a gradient; index in the whole tensor."""

    rank: int
    name: str
    index: int
    value: float


@dataclass(frozen=True)
class Crash:
    """Which rank dies before which of its operations on files, counted from 0."""

    rank: int
    operation: int


def field(message: Message, name: str, convert: Callable[[Any], T], where: str) -> T:
    """Return `message[name]` as `convert` makes it, or raise `ProtocolError`."""
    if not isinstance(message, dict) or name not in message:
        raise ProtocolError(f"{where}: {name} is missing")
    try:
        return convert(message[name])
    except (TypeError, ValueError, KeyError):
        raise ProtocolError(f"{where}: {name} is {message[name]!r}") from None


def positive(value: Any) -> int:
    """Return a count of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(value)
    return value


def real(value: Any) -> float:
    """Return a number as a float; "inf", "-inf" and "nan" are numbers too."""
    if isinstance(value, bool):
        raise ValueError(value)
    return float(value)


def text(value: Any) -> str:
    """Return a string that is one."""
    if not isinstance(value, str):
        raise ValueError(value)
    return value


def texts(value: Any) -> list[str]:
    """Return a list of strings."""
    return [text(item) for item in list(value)]


def optional_real(value: Any) -> float | None:
    """Return a number, or None for null."""
    return None if value is None else real(value)


def loss_scale(value: Any) -> float | str:
    """Return a number, "none" or "dynamic"."""
    return value if value in ("none", "dynamic") else real(value)


def pair(value: Any) -> tuple[float, float]:
    """Return two numbers."""
    first, second = value
    return real(first), real(second)


CONVERTERS: dict[str, Callable[[Any], Any]] = {  # by the type of a field
    "str": text,
    "int": int,
    "float": real,
    "tuple[int, ...]": lambda sizes: tuple(int(size) for size in sizes),
    "tuple[float, float]": pair,
}


def taken(kind: type[T], message: Message, where: str) -> T:
    """Return what a message says of a type, whose fields with a default may be missing."""
    found = {
        each.name: field(message, each.name, CONVERTERS[str(each.type)], where)
        for each in fields(kind)  # type: ignore[arg-type]
        if each.default is MISSING or each.name in message
    }
    return kind(**found)


def opening(message: Message) -> Opening:
    """Return an `open` as a type."""
    world = field(message, "world", dict, "open")
    optimizer = field(message, "optimizer", dict, "open")
    params, groups = (field(message, name, list, "open") for name in ("params", "groups"))
    result = Opening(
        shard=field(world, "shard", positive, "open: world"),
        replicate=field(world, "replicate", positive, "open: world"),
        microbatches=field(message, "microbatches", positive, "open"),
        params=[taken(ParamSpec, each, "open: params") for each in params],
        groups=[taken(GroupSpec, each, "open: groups") for each in groups],
        mode=field(optimizer, "mode", text, "open: optimizer"),
        clip=optional_real(optimizer.get("clip")),
        loss_scale=loss_scale(optimizer.get("loss_scale", "none")),
        precision=taken(Precision, field(message, "precision", dict, "open"), "open: precision"),
        options={key: text(value) for key, value in message.get("options", {}).items()},
        initial=field(message, "initial", text, "open"),
        anew=message.get("anew") is True,
    )
    for param in result.params:
        if not 0 <= param.group < len(result.groups):
            raise ProtocolError(f"open: parameter {param.name}: there is no group {param.group}")
    return result


def overflow(message: Message) -> Overflow | None:
    """Return a backward's overflow, if it has one."""
    entry = message.get("overflow")
    return None if entry is None else taken(Overflow, entry, "backward: overflow")


def crash(message: Message) -> Crash | None:
    """Return a save's crash, if it has one."""
    entry = message.get("crash")
    return None if entry is None else taken(Crash, entry, "save: crash")


def check(name: str, message: Message, ranks: int) -> None:
    """Check what a request to a world of `ranks` must say, before any rank sees it."""
    if name == "backward":
        files = field(message, "gradients", texts, name)
        if len(files) != ranks:
            raise ProtocolError(f"backward: {len(files)} files of gradients for {ranks} ranks")
        if "without" in message:
            field(message, "without", texts, name)
        overflow(message)
    elif name == "state":
        field(message, "prefix", text, name)
    elif name in ("save", "load"):
        field(message, "directory", text, name)
        crash(message)
    elif name == "set":
        for group in message.get("groups", []):
            field(group, "name", text, "set: groups")
        if "clip" in message:
            field(message, "clip", optional_real, name)
        if "loss_scale" in message:
            field(message, "loss_scale", loss_scale, name)
