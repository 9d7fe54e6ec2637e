"""The engine in NumPy without one thing that it should do: `python3 lacking_engine.py WHAT`.

WHAT is a name in LACKS. With `claims_all` it offers what it has not, and refuses it when asked.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "numpy"))

import numpy as np  # noqa: E402
from adamant_numpy import server  # noqa: E402
from adamant_numpy.launcher import Launcher  # noqa: E402
from adamant_numpy.server import Json, Server  # noqa: E402


class Lacking(Server):
    """Answers as the engine does, but for one thing."""

    def __init__(self, lack: str, number: int) -> None:
        super().__init__()
        self.lack, self.number = lack, number

    def answer(self, request: Json) -> Json:
        """With what stands in the place of the engine's own way to a request."""
        instead = LACKS[self.lack].get(request["request"])
        ask = super().answer
        return instead(self, request, ask) if instead else ask(request)


Ask = Callable[[Json], Json]
Instead = Callable[[Lacking, Json, Ask], Json]


def sizes(it: Lacking) -> tuple[int, int]:
    """Of the open world."""
    return it.world.settings.shard, it.world.settings.replicate


def ignored(it: Lacking, _: Json, __: Ask) -> Json:
    """Nothing happens."""
    return {"outcome": "ok", **it.each({"not_carried": []})}


def with_initial_values_lost(it: Lacking, request: Json, ask: Ask) -> Json:
    """On so many ranks."""
    reply = ask(request)
    if sizes(it) == (it.number, 1):
        for rank in it.world.ranks:
            for weights in (rank.weights, rank.main):
                weights.update({name: x * 0 for name, x in weights.items()})
    return reply


def spoiled_gradients(it: Lacking, request: Json, ask: Ask) -> Json:
    """On so many ranks the last one's share is lost."""
    reply = ask(request)
    if sizes(it) == (it.number, 1):
        for rank in it.world.ranks:
            rank.gradient = {name: g * np.float32(0.5) for name, g in rank.gradient.items()}
    return reply


def without_second_replica(it: Lacking, request: Json, ask: Ask) -> Json:
    """The others step."""
    shard, replicate = sizes(it)
    before = [dict(rank.weights) for rank in it.world.ranks]
    reply = ask(request)
    if replicate > 1 and shard == it.number:
        it.world.ranks[-1].weights = before[-1]
    return reply


def divided_by(count: Callable[[int, int], int]) -> Instead:
    """By another number than that of microbatches."""

    def instead(it: Lacking, request: Json, ask: Ask) -> Json:
        s = it.world.settings
        right, s.microbatches = s.microbatches, count(s.microbatches, s.shard)
        reply = ask(request)
        s.microbatches = right
        return reply

    return instead


def overwriting(it: Lacking, request: Json, ask: Ask) -> Json:
    """A backward forgets the one before it."""
    for rank in it.world.ranks:
        rank.gradient = {}
    return ask(request)


def consuming(it: Lacking, request: Json, ask: Ask) -> Json:
    """A step leaves a gradient of zeros."""
    reply = ask(request)
    for rank in it.world.ranks:
        rank.gradient = {name: g * 0 for name, g in rank.gradient.items()}
    return reply


def only_with_gradient(it: Lacking, request: Json, ask: Ask) -> Json:
    """A step without any is none."""
    has = any(rank.gradient for rank in it.world.ranks)
    return ask(request) if has else {"outcome": "ok", **it.each({"applied": True})}


def changed(key: str, value: Any) -> Instead:
    """The request says something else."""
    return lambda _, request, ask: ask({**request, key: value})


def optimizer(key: str, value: Any) -> Instead:
    """So does its optimizer."""

    def instead(_: Lacking, request: Json, ask: Ask) -> Json:
        return ask({**request, "optimizer": {**request["optimizer"], key: value}})

    return instead


def set_without(key: str) -> Instead:
    """What the change is, is not heard."""

    def instead(_: Lacking, request: Json, ask: Ask) -> Json:
        kept = [
            {name: at for name, at in group.items() if name != key}
            for group in request.get("groups", [])
        ]
        rest = {name: at for name, at in request.items() if name not in (key, "groups")}
        return ask({**rest, "groups": kept})

    return instead


def counting_zero_based(it: Lacking, request: Json, ask: Ask) -> Json:
    """The first step is number 0."""
    reply = ask(request)
    for rank in reply["ranks"] if it.world.settings.mode == "adamw" else []:
        for shard in rank["shards"]:
            shard["steps"] = max(shard["steps"] - 1, 0)
    return reply


def always_corrected(it: Lacking, request: Json, ask: Ask) -> Json:
    """Whatever its groups say."""
    said = [group.bias_correction for group in it.world.groups]
    for group in it.world.groups:
        group.bias_correction = True
    reply = ask(request)
    for group, corrects in zip(it.world.groups, said, strict=True):
        group.bias_correction = corrects
    return reply


def always_scaled(it: Lacking, request: Json, ask: Ask) -> Json:
    """Up to the limit, too."""
    reply = ask(request)
    it.world.coefficient = np.float32(it.world.settings.clip) / it.world.norm
    return reply


def not_clipped(it: Lacking, request: Json, ask: Ask) -> Json:
    """The norm is told, and that is all."""
    reply = ask(request)
    it.world.coefficient = np.float32(1)
    return reply


def not_unscaled(it: Lacking, request: Json, ask: Ask) -> Json:
    """A step takes gradients as they are."""
    s = it.world.settings
    right, s.loss_scale = s.loss_scale, s.loss_scale and 1.0
    reply = ask(request)
    s.loss_scale = right
    return reply


def always_skipping(it: Lacking, request: Json, ask: Ask) -> Json:
    """Without a loss scale, too."""
    s = it.world.settings
    right, s.loss_scale = s.loss_scale, s.loss_scale or 1.0
    reply = ask(request)
    s.loss_scale = right
    return reply


def never_skipping(it: Lacking, request: Json, ask: Ask) -> Json:
    """Of an overflow it makes zeros."""
    for rank in it.world.ranks:
        rank.gradient = {k: np.where(np.isfinite(g), g, 0) for k, g in rank.gradient.items()}
    return ask(request)


def load_on(shard: int, replicate: int) -> Instead:
    """A load on so many ranks leaves them as they began."""

    def instead(it: Lacking, request: Json, ask: Ask) -> Json:
        return (ignored if sizes(it) == (shard, replicate) else _ask)(it, request, ask)

    return instead


def _ask(_: Lacking, request: Json, ask: Ask) -> Json:
    return ask(request)


def by_place(it: Lacking, request: Json, ask: Ask) -> Json:
    """Parameters are what stands in their place in the files."""
    reply = ask(request)
    names = [p.name for p in it.world.params]
    if names != sorted(names):
        for rank in it.world.ranks:
            for kind in (rank.exp_avg, rank.exp_avg_sq):
                kind.update({name: x + np.float32(1) for name, x in kind.items()})
    return reply


def once(it: Lacking, request: Json, ask: Ask) -> Json:
    """A directory that has a checkpoint keeps it."""
    there = (Path(request["directory"]) / "index.json").exists()
    return {**ignored(it, request, ask), "files": []} if there else ask(request)


def with_own_groups(it: Lacking, request: Json, ask: Ask) -> Json:
    """A load leaves settings as they are."""
    groups = it.world.groups
    reply = ask(request)
    it.world.groups = groups
    return reply


def whatever_is_there(it: Lacking, request: Json, ask: Ask) -> Json:
    """Damage is no reason to refuse a load."""
    reply = ask(request)
    return reply if reply["outcome"] == "ok" else ignored(it, request, ask)


def crash_of_all(it: Lacking, request: Json, ask: Ask) -> Json:
    """A crash in a save takes what was saved before with it."""
    if "crash" in request:
        for file in Path(request["directory"]).parent.glob("*/index.json"):
            file.unlink()
    return ask(request)


def in_fp32(_: Lacking, request: Json, ask: Ask) -> Json:
    """Whatever types are asked for."""
    plain = {"param": "fp32", "grad": "fp32", "main": "none"}
    plain |= {"exp_avg": "fp32", "exp_avg_sq": "fp32"}
    return ask({**request, "precision": plain})


def in_another_mood(it: Lacking, request: Json, ask: Ask) -> Json:
    """An option changes bits."""
    restless = request["options"].get("mood") == "restless"
    it.bug = "tail_rounds_otherwise" if restless else "none"
    return ask({**request, "options": {}})


LACKS: dict[str, dict[str, Instead]] = {
    "nothing": {},
    "initial_values": {"open": with_initial_values_lost},
    "reduction": {"backward": spoiled_gradients},
    "replicas": {"step": without_second_replica},
    "fewer_microbatches": {"backward": divided_by(max)},
    "odd_microbatches": {"backward": divided_by(lambda count, ranks: count // ranks * ranks or 1)},
    "accumulation": {"backward": overwriting},
    "second_step": {"step": consuming},
    "left_out": {"backward": changed("without", [])},
    "idle_step": {"step": only_with_gradient},
    "none": {"zero_grad": changed("set_to_none", False)},
    "zeros": {"zero_grad": changed("set_to_none", True)},
    "adamw": {"open": optimizer("mode", "adam")},
    "adam": {"open": optimizer("mode", "adamw")},
    "counter": {"state": counting_zero_based},
    "uncorrected": {"step": always_corrected},
    "clip": {"clip": not_clipped},
    "limit": {"clip": always_scaled},
    "unscaling": {"step": not_unscaled},
    "infinities": {"step": always_skipping},
    "skips": {"step": never_skipping},
    "texts": {},
    "claims_all": {},
    **{f"set_{key}": {"set": set_without(key)}
       for key in ("lr", "betas", "eps", "weight_decay", "clip", "loss_scale")},
    "load": {"load": load_on(2, 1)},
    "load_on_fewer": {"load": load_on(1, 1)},
    "load_on_more": {"load": load_on(3, 1)},
    "load_on_replicas": {"load": load_on(2, 2)},
    "names": {"load": by_place},
    "second_save": {"save": once},
    "settings": {"load": with_own_groups},
    "refusals": {"load": whatever_is_there},
    "older_saves": {"save": crash_of_all},
    "types": {"open": in_fp32},
    "options": {"open": in_another_mood},
}  # fmt: skip


def main() -> None:
    """Line by line, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    replies = os.dup(1)
    os.dup2(2, 1)
    lack = sys.argv[1]
    if lack == "texts":
        server.number = float
    offered = server.HELLO["capabilities"]
    if lack == "options":
        server.HELLO["options"] = {"mood": ["calm", "restless"]}
        offered |= {"promises": ["options"], "same_options": ["mood"]}
    if lack == "claims_all":
        offered |= {"loss_scale": ["none", "fixed", "dynamic"]}
        offered |= {"step_counters": ["group", "parameter"]}
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    Launcher(0, replies, Lacking(lack, number).answer).run()


if __name__ == "__main__":
    main()
