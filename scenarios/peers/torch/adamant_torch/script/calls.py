"""Requests of a session as calls of `driving.Driver`, without the arguments that it has by itself.

What a call cannot say ends with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adamant_torch.driving import TYPES
from adamant_torch.protocol import Message
from adamant_torch.script.layout import Argument, Expression, source

RUN = "$RUN/"
FIELDS: dict[str, set[str]] = {
    "open": {
        *("world", "layout", "microbatches", "params", "groups"),
        *("optimizer", "precision", "options", "initial"),
    },
    "backward": {"gradients", "without", "loss_scale", "overflow"},
    "set": {"groups", "clip", "loss_scale"},
    "save": {"directory", "crash"},
    "load": {"directory"},
    "state": {"prefix", "whole"},
    "zero_grad": {"set_to_none"},
}
PARTS_OF_OPEN = {
    "world": {"shard", "replicate", "outer"},
    "optimizer": {"mode", "step_counter", "clip", "loss_scale"},
    "precision": {*TYPES, "state_scale"},
    "params": {"name", "shape", "group", "unit", "parts"},
    "groups": {"name", "lr", "betas", "eps", "weight_decay", "bias_correction"},
}
USUAL: dict[str, Any] = {  # of `Driver.open`
    **{"replicate": 1, "outer": "none", "layout": "fsdp2", "microbatches": None, "order": None},
    **{"units": {}, "parts": {}, "groups": {}, "mode": "adamw", "step_counter": "parameter"},
    **{"clip": None, "loss_scale": "none", "types": {}, "options": {}, "bias_correction": True},
}


def expect_known(request: Message) -> None:
    """End where a request has a field that its call has no argument for."""
    verb, fields = request["request"], request["fields"]
    _expect(verb, fields, FIELDS.get(verb, set()))
    for part, known in PARTS_OF_OPEN.items() if verb == "open" else ():
        several = fields[part] if isinstance(fields[part], list) else [fields[part]]
        for each in several:
            _expect(verb, each, known)


def _expect(verb: str, fields: Message, known: set[str]) -> None:
    for unknown in fields.keys() - known:
        raise SystemExit(f"Driver.{verb} has no argument for `{unknown}`")


def of_open(fields: Message, order: Sequence[str], offered: Message) -> dict[str, Any]:
    """Return all arguments of a world, but for its initial values, whose names are in `order`."""
    world, params, groups = fields["world"], fields["params"], fields["groups"]
    names = [param["name"] for param in params]
    ranks = world["shard"] * world["replicate"]
    settings = {key: value for key, value in groups[0].items() if key != "name"}
    types = {"state_scale": None, **TYPES}
    return {
        "shard": world["shard"],
        "replicate": world["replicate"],
        "outer": world.get("outer", "none"),
        "layout": fields["layout"],
        "microbatches": None if fields["microbatches"] == ranks else fields["microbatches"],
        "order": None if names == list(order) else names,
        "units": {param["name"]: param["unit"] for param in params if param["unit"] != 0},
        "parts": {param["name"]: param["parts"] for param in params if "parts" in param},
        "groups": {
            group["name"]: _of_group(number, group, settings, params)
            for number, group in enumerate(groups[1:], 1)
        },
        **fields["optimizer"],
        "types": {key: at for key, at in fields["precision"].items() if at != types[key]},
        "options": {key: at for key, at in fields["options"].items() if at != offered[key][0]},
        **settings,
    }


def _of_group(number: int, group: Message, first: Message, params: list[Message]) -> Message:
    own = {key: value for key, value in group.items() if key != "name" and value != first[key]}
    return {"params": [param["name"] for param in params if param["group"] == number], **own}


def of_set(fields: Message) -> list[Argument]:
    """Return settings of the group without a name, those of the world, and other groups."""
    groups = {
        group["name"]: {key: value for key, value in group.items() if key != "name"}
        for group in fields.get("groups", [])
    }
    settings = groups.pop("", {})
    settings.update({key: fields[key] for key in ("clip", "loss_scale") if key in fields})
    return [
        (f"{key}=", value) for key, value in {**settings, "groups": groups}.items() if value != {}
    ]


def of_files(fields: Message) -> list[Argument]:
    """Return a checkpoint's name, and a crash."""
    if not fields["directory"].startswith(RUN):
        raise SystemExit("it loads a checkpoint that it did not save")
    crash = fields.get("crash")
    struck: list[Argument] = [("crash=", (crash["rank"], crash["operation"]))] if crash else []
    return [("", fields["directory"].removeprefix(RUN)), *struck]


def unusual(fields: Message) -> list[Argument]:
    """Return what a backward, a `state` or a `zero_grad` says otherwise than usually."""
    usual = {"without": [], "loss_scale": 1, "overflow": None, "whole": False, "set_to_none": True}
    return [(f"{key}=", fields[key]) for key in usual if fields.get(key, usual[key]) != usual[key]]


def path(place: str) -> Expression:
    """Return where a checkpoint or a file of it lies."""
    return Expression(f"driver.path({source(place.removeprefix(RUN))})")


def damage(place: Callable[[str], str], then: str, file: str, at: int = 0, older: str = "") -> str:
    """Return the line that does to a file what was done to it then; `place` says where it lies."""
    if then == "flip_byte":
        return f"flip({place(file)}, {at})"
    if then == "truncate":
        return f"os.truncate({place(file)}, {at})"
    if then == "remove_file":
        return f"os.remove({place(file)})"
    return f"shutil.copy({place(older)}, {place(file)})"
