"""The words of the protocol: requests as they come, outcomes as they go, numbers in JSON.

Knows the shape of messages and nothing of processes or of PyTorch's modules.
"""

from __future__ import annotations

import json
import math
import sys
import traceback
from typing import Any

VERSION = 1
FRAMES = 100  # of an error's traceback, the innermost

Message = dict[str, Any]


class ProtocolError(Exception):
    """A request that cannot be understood or comes out of order. The engine goes on."""


class EngineError(Exception):
    """The engine refuses what was asked, in its own words."""


def number(value: float) -> float | str:
    """Return `value` as JSON can hold it: "nan", "inf" and "-inf" are texts."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return value


def encode(message: Message) -> bytes:
    """Return one line of JSON, its end included."""
    return json.dumps(message, allow_nan=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    """Return the object that `line` holds, or raise `ProtocolError`."""
    try:
        message = json.loads(line)
    except ValueError as error:
        raise ProtocolError(f"a request is one JSON object a line; {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError(f"a request is a JSON object, found {type(message).__name__}")
    return message


def failure(error: BaseException) -> Message:
    """Return outcome `error` with the type and the last line of `error`, and where it was thrown.

    Errors that PyTorch collected from several ranks (`CheckpointException`) carry tracebacks in
    their text; the last line is the one that says what happened.
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    kind = "protocol" if isinstance(error, ProtocolError) else type(error).__name__
    text = lines[-1] if lines else kind
    if is_own(error):
        kind, text = "adapter", f"{kind}: {text}"
    told = {"type": kind, "text": text, **cause(error)}
    if not isinstance(error, ProtocolError):
        told |= thrown(error)
    return {"outcome": "error", "error": told}


def cause(error: BaseException) -> dict[str, str]:
    """Return the type of what a rank handed on to all, where `error` stands for that in DCP."""
    handed = getattr(error, "failures", None)
    if not isinstance(handed, dict) or not handed:
        return {}
    first, _ = next(iter(handed.values()))
    return {"cause": type(first).__name__}


def thrown(error: BaseException) -> dict[str, str]:
    """Return the class of `error`, the line that raised it, and its traceback."""
    frames = traceback.extract_tb(error.__traceback__, limit=-FRAMES)
    lines = traceback.format_exception(type(error), error, error.__traceback__, limit=-FRAMES)
    told = {"kind": f"{type(error).__module__}.{type(error).__qualname__}"}
    if frames:
        told["where"] = f"{frames[-1].filename}:{frames[-1].lineno}"
    return {**told, "traceback": "".join(lines)}


def is_own(error: BaseException) -> bool:
    """Return whether an adapter itself asked for what its engine's release does not have.

    That may be by way of Python's own library, as `mock.patch.object` does.
    """
    misfit = isinstance(error, TypeError) and "argument" in str(error)  # of another signature
    frames = traceback.walk_tb(error.__traceback__)
    modules = [str(frame.f_globals.get("__name__")) for frame, _ in frames]
    others = [name for name in modules if name.split(".")[0] not in sys.stdlib_module_names]
    asks = isinstance(error, (AttributeError, ImportError)) or misfit
    return asks and bool(others) and others[-1].startswith("adamant_")


def worst(outcomes: list[str]) -> str:
    """Return the outcome that stands for all ranks."""
    order = ["died", "error", "timed_out"]
    return next((outcome for outcome in order if outcome in outcomes), "ok")
