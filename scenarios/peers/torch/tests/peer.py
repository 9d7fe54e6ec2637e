"""The other end of the protocol, as tests speak it: a launcher, scenarios, and what ranks show."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
import torch

from adamant_torch import hello, tensor_file

ROOT = Path(__file__).resolve().parent.parent
Reply = dict[str, Any]
Tensors = dict[str, torch.Tensor]

GROUP = {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01}
FP32 = {"param": "fp32", "grad": "fp32", "main": "none", "exp_avg": "fp32", "exp_avg_sq": "fp32"}
PARAMS: list[dict[str, Any]] = [
    {"name": "a.weight", "shape": [5, 3], "group": 0, "unit": 0},
    {"name": "a.bias", "shape": [5], "group": 1, "unit": 0},
    {"name": "b", "shape": [2], "group": 0, "unit": 1},
    {"name": "c", "shape": [7, 2, 3], "group": 0, "unit": 1},
]


class Launcher:
    """A running adapter."""

    def __init__(self, *arguments: str, timeout_seconds: float = 30) -> None:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.process = subprocess.Popen(
            [sys.executable, "-m", "adamant_torch", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.id = 0
        self.hello = self.ask("hello", version=1, timeout_seconds=timeout_seconds)

    def ask(self, request: str, **fields: Any) -> Reply:
        """Send a request and return the reply, whatever it says."""
        self.id += 1
        return self.say({"id": self.id, "request": request, **fields})

    def say(self, message: Any) -> Reply:
        """Send any JSON and return the reply."""
        return self.say_line(json.dumps(message).encode())

    def say_line(self, line: bytes) -> Reply:
        """Send any line and return the reply."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        reply: Reply = json.loads(self.process.stdout.readline())
        return reply

    def must(self, request: str, **fields: Any) -> Reply:
        """Send a request that has to succeed."""
        reply = self.ask(request, **fields)
        assert reply["outcome"] == "ok", reply
        return reply

    def ranks(self) -> list[int]:
        """Return the process ids of all ranks that are alive, those of kept worlds included."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def close(self) -> int:
        """End the input and return the exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=10)

    def __enter__(self) -> Launcher:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.close()


def values(seed: int, params: list[dict[str, Any]]) -> Tensors:
    """Return small multiples of a power of two: every sum of a few is exact in any type."""
    generator = torch.Generator().manual_seed(seed)
    return {
        param["name"]: torch.randint(-8, 9, param["shape"], generator=generator) / 4.0
        for param in params
    }


def need_format(wanted: str) -> None:
    """Skip the test where checkpoints of a format cannot be written with what is installed."""
    assert wanted in ("dcp", "hf_sharded", "hf_consolidated")
    if wanted not in hello.formats():
        pytest.skip(f"{wanted} needs safetensors and PyTorch 2.9")


@dataclass
class World:
    """One world of a launcher and the files that it is fed with."""

    launcher: Launcher
    folder: Path
    shard: int = 2
    replicate: int = 1
    microbatches: int | None = None
    params: list[dict[str, Any]] = field(default_factory=lambda: list(PARAMS))
    mode: str = "adamw"
    clip: float | None = None
    loss_scale: float | str = "none"
    precision: dict[str, str] = field(default_factory=lambda: dict(FP32))
    options: dict[str, str] = field(default_factory=dict)
    states: int = 0

    @property
    def size(self) -> int:
        """The number of ranks."""
        return self.shard * self.replicate

    def request(self, initial_seed: int = 0) -> dict[str, Any]:
        """Return the fields of `open`."""
        initial = self.folder / "initial.safetensors"
        tensor_file.write(str(initial), values(initial_seed, self.params))
        return {
            "world": {"shard": self.shard, "replicate": self.replicate},
            "layout": "fsdp2",
            "microbatches": self.microbatches or self.size,
            "params": self.params,
            "groups": [
                {"name": "", **GROUP, "bias_correction": True},
                {"name": "no_decay", **GROUP, "weight_decay": 0.0, "bias_correction": True},
            ],
            "optimizer": {
                "mode": self.mode,
                "step_counter": "parameter",
                "clip": self.clip,
                "loss_scale": self.loss_scale,
            },
            "precision": self.precision,
            "options": self.options,
            "initial": str(initial),
        }

    def open(self, initial_seed: int = 0) -> World:
        """Open the world; skip the test where its format of checkpoints is not offered."""
        need_format(self.options.get("format", "dcp"))
        self.launcher.must("open", **self.request(initial_seed))
        return self

    def gradients(self, seed: int) -> list[Tensors]:
        """Return each rank's gradients: sums over its microbatches."""
        return [values(1000 * seed + rank, self.params) for rank in range(self.size)]

    def backward(self, seed: int = 1, **fields: Any) -> Reply:
        """Run a backward with gradients drawn from `seed`."""
        files = []
        for rank, tensors in enumerate(self.gradients(seed)):
            files.append(str(self.folder / f"gradient-{rank}.safetensors"))
            tensor_file.write(files[-1], tensors)
        return self.launcher.must("backward", gradients=files, **fields)

    def train(self, steps: int = 1, **fields: Any) -> None:
        """Run whole iterations."""
        for seed in range(1, steps + 1):
            self.backward(seed, **fields)
            if self.clip is not None:
                self.launcher.must("clip")
            self.launcher.must("step")
            self.launcher.must("zero_grad", set_to_none=True)

    def state(self) -> tuple[list[Reply], list[Tensors]]:
        """Return what the ranks say and what their files hold."""
        self.states += 1
        prefix = str(self.folder / f"state-{self.states}")
        reply = self.launcher.must("state", prefix=prefix, whole=True)
        return reply["ranks"], [tensor_file.read(rank["file"]) for rank in reply["ranks"]]

    def whole(self) -> Tensors:
        """Return whole tensors; all ranks must see the same."""
        _, files = self.state()
        seen = [
            {name[6:]: value for name, value in file.items() if name.startswith("whole/")}
            for file in files
        ]
        for other in seen[1:]:
            assert different(seen[0], other) == []
        return seen[0]


def different(first: Tensors, second: Tensors) -> list[str]:
    """Return the names of tensors whose type, shape or bits are not the same."""
    names = sorted(set(first) | set(second))
    return [
        name
        for name in names
        if name not in first
        or name not in second
        or first[name].dtype != second[name].dtype
        or first[name].shape != second[name].shape
        or tensor_file.raw_bytes(first[name]) != tensor_file.raw_bytes(second[name])
    ]
