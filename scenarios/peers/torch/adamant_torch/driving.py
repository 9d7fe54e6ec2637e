"""An engine under a test's own hand: requests as calls, and what its ranks show as tensors.

For laws of an engine's own that no scenario can ask for. The launcher lives in the process of the
test, and ranks are forked from it, so a change that the test made to the engine is theirs as well.

    with Driver(MyEngine, tmp_path) as driver:
        driver.open(params, shard=2)
        driver.backward([{"w": torch.ones(4, 3)}, {"w": torch.zeros(4, 3)}])
        driver.ask("step")
        assert driver.whole()["w"].isfinite().all()
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Any

import torch

from adamant_torch import tensor_file
from adamant_torch.engine import Engine
from adamant_torch.launcher import Launcher
from adamant_torch.protocol import EngineError, Message

Tensors = dict[str, torch.Tensor]
GROUP = {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01}
TYPES = {"param": "fp32", "grad": "fp32", "main": "none", "exp_avg": "fp32", "exp_avg_sq": "fp32"}


class Driver:
    """One engine, its launcher, and a folder for the files between them."""

    def __init__(self, kind: type[Engine], folder: Path, timeout_seconds: float = 60) -> None:
        self.launcher = Launcher(kind)
        self.folder = folder
        self.ranks = 0
        self.shown = 0
        self.must("hello", version=1, timeout_seconds=timeout_seconds)

    def ask(self, request: str, **fields: Any) -> Message:
        """Send a request and return the reply, whatever it says."""
        line = json.dumps({"id": 0, "request": request, **fields})
        return self.launcher.answer(line.encode())

    def must(self, request: str, **fields: Any) -> Message:
        """Send a request; raise `EngineError` with the reply where it does not end well."""
        reply = self.ask(request, **fields)
        if reply["outcome"] != "ok":
            raise EngineError(f"{request}: {reply}")
        return reply

    def open(
        self,
        initial: Tensors,
        *,
        shard: int = 1,
        replicate: int = 1,
        mode: str = "adamw",
        types: dict[str, str] | None = None,
        options: dict[str, str] | None = None,
        units: dict[str, int] | None = None,
        **settings: Any,
    ) -> None:
        """Open a world with these whole parameters; settings are of the one group, as `lr`.

        All are in one unit, but where `units` says another.
        """
        unit = units or {}
        self.ranks = shard * replicate
        path = self.folder / "initial.safetensors"
        tensor_file.write(str(path), initial)
        shapes = [(name, list(value.shape)) for name, value in initial.items()]
        self.must(
            "open",
            world={"shard": shard, "replicate": replicate},
            layout="fsdp2",
            microbatches=self.ranks,
            params=[
                {"name": n, "shape": shape, "group": 0, "unit": unit.get(n, 0)}
                for n, shape in shapes
            ],
            groups=[{"name": "", **GROUP, "bias_correction": True, **settings}],
            optimizer={
                "mode": mode,
                "step_counter": "parameter",
                "clip": None,
                "loss_scale": "none",
            },
            precision=types or TYPES,
            options=options or {},
            initial=str(path),
        )

    def backward(self, gradients: list[Tensors], without: tuple[str, ...] = ()) -> None:
        """Run a backward with a set of whole gradients for each rank."""
        paths = [str(self.folder / f"gradient-{rank}") for rank in range(self.ranks)]
        for path, tensors in zip(paths, gradients, strict=True):
            tensor_file.write(path, tensors)
        self.must("backward", gradients=paths, without=list(without), loss_scale=1.0)

    def train(self, gradients: Tensors) -> None:
        """Run an iteration in which every rank has the same gradients."""
        self.backward([gradients] * self.ranks)
        self.must("step")
        self.must("zero_grad", set_to_none=True)

    def seen(self, whole: bool = True) -> list[Tensors]:
        """Return what each rank shows: `local/NAME…`, and `whole/NAME…`."""
        self.shown += 1
        reply = self.must("state", prefix=str(self.folder / f"state-{self.shown}"), whole=whole)
        return [tensor_file.read(rank["file"]) for rank in reply["ranks"]]

    def whole(self) -> Tensors:
        """Return whole tensors as rank 0 sees them."""
        first = self.seen()[0]
        return {name[6:]: value for name, value in first.items() if name.startswith("whole/")}

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.launcher.worlds.end()
