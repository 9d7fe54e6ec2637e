"""The other end of the protocol, for tests and for the recorded session: a harness in miniature."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from adamant_numpy import tensors
from adamant_numpy.formats import Array

Json = dict[str, Any]
ENGINE = str(Path(__file__).parents[1])

GROUP: Json = {
    "name": "",
    "lr": 0.125,
    "betas": [0.5, 0.75],
    "eps": 2.0**-20,
    "weight_decay": 0.25,
    "bias_correction": True,
}
PARAMS: list[Json] = [
    {"name": "a.weight", "shape": [5, 2], "group": 0, "unit": 0},
    {"name": "b", "shape": [1], "group": 0, "unit": 0},
]
FP32: Json = {k: "fp32" for k in ("param", "grad", "exp_avg", "exp_avg_sq")} | {"main": "none"}


class Conversation:
    """A launcher, its scratch directory, and the number of the next request."""

    def __init__(self, scratch: Path, *flags: str) -> None:
        self.scratch = scratch
        self.next = 0
        self.log: Callable[[Json], None] = lambda _: None
        command = [sys.executable, ENGINE, *flags]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=5)

    def send(self, line: str) -> Json:
        """Any line, and the reply."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()
        reply: Json = json.loads(self.process.stdout.readline())
        self.log(reply)
        return reply

    def ask(self, request: str, **fields: Any) -> Json:
        """A request, and the reply."""
        whole: Json = {"id": self.next, "request": request, **fields}
        self.next += 1
        self.log(whole)
        reply = self.send(json.dumps(whole))
        assert reply["id"] == whole["id"]
        return reply

    def ok(self, request: str, **fields: Any) -> Json:
        """A request that has to succeed."""
        reply = self.ask(request, **fields)
        assert reply["outcome"] == "ok", reply
        return reply

    def open(self, shard: int = 2, fill: float = 1.0, **changes: Any) -> Json:
        """A world of two small parameters."""
        params: list[Json] = changes.get("params", PARAMS)
        initial = {p["name"]: np.full(p["shape"], fill, np.float32) for p in params}
        request: Json = {
            "world": {"shard": shard, "replicate": 1},
            "layout": "fsdp2",
            "microbatches": 4,
            "params": params,
            "groups": [GROUP],
            "optimizer": {
                "mode": "adamw", "step_counter": "group", "clip": None, "loss_scale": "none",
            },
            "precision": FP32,
            "options": {},
            "initial": self.write("initial", initial),
        }  # fmt: skip
        return self.ok("open", **{**request, **changes})

    def write(self, name: str, values: dict[str, Array]) -> str:
        """A file of whole tensors."""
        path = self.scratch / f"{name}.safetensors"
        path.write_bytes(tensors.encoded({key: ("fp32", at) for key, at in values.items()}))
        return str(path)

    def backward(self, ranks: int = 2, value: float = 4.0, **fields: Any) -> Json:
        """Gradients that count up over ranks and elements."""
        paths = []
        for r in range(ranks):
            ramp = {p["name"]: np.arange(np.prod(p["shape"])).reshape(p["shape"]) for p in PARAMS}
            sums = {name: (value * (r + at)).astype(np.float32) for name, at in ramp.items()}
            paths.append(self.write(f"rank-{r}", sums))
        request = {"gradients": paths, "without": [], "loss_scale": 1.0}
        return self.ok("backward", **{**request, **fields})

    def train(self, ranks: int = 2, **fields: Any) -> None:
        """One iteration."""
        self.backward(ranks, **fields)
        self.ok("step")
        self.ok("zero_grad", set_to_none=True)

    def state(self, whole: bool = True) -> tuple[Json, list[dict[str, Array]]]:
        """The reply, and each rank's tensors."""
        reply = self.ok("state", prefix=str(self.scratch / f"state-{self.next}"), whole=whole)
        return reply, [tensors.read(rank["file"]) for rank in reply["ranks"]]

    def wholes(self) -> dict[str, Array]:
        """What rank 0 sees of every whole tensor."""
        return {k: at for k, at in self.state()[1][0].items() if k.startswith("whole/")}
