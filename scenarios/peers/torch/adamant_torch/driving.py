"""An engine under a caller's own hand: requests as calls, and what its ranks show as tensors.

For laws of an engine's own that no scenario can ask for, and for scripts of bug reports. The
launcher lives in the process of the caller, and ranks are forked from it, so a change that it
made to the engine is theirs as well.

    with Driver(MyEngine) as driver:
        driver.open({"w": torch.ones(4, 3)}, shard=2, lr=0.5, loss_scale="dynamic")
        driver.backward([{"w": torch.ones(4, 3)}, {"w": torch.zeros(4, 3)}])
        driver.step()
        driver.save("a")
        driver.open({"w": torch.zeros(4, 3)}, shard=3)
        driver.load("a")
        assert driver.whole()["w"].isfinite().all()
"""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from adamant_torch import asking, tensor_file
from adamant_torch.asking import Settings, Tensors, Values
from adamant_torch.engine import Engine
from adamant_torch.launcher import Launcher
from adamant_torch.protocol import EngineError, Message
from adamant_torch.shown import failed, failure, flip

GROUP = {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01}
TYPES = {"param": "fp32", "grad": "fp32", "main": "none", "exp_avg": "fp32", "exp_avg_sq": "fp32"}


class OnRank(Exception):  # noqa: N818  (as Python prints it: where it happened)
    """What a rank printed of an exception, its cause and its traceback among it."""


class Failed(EngineError):  # noqa: N818  (a rank's failure, which a caller may want to see)
    """A request did not end well. The text says which, and what the rank says that failed.

    What it was raised from has the rank's traceback.
    """

    def __init__(self, request: str, reply: Message) -> None:
        super().__init__(f"{request}: {failure(reply)}")
        self.reply = reply
        if trace := failed(reply).get("error", {}).get("traceback"):
            self.__cause__ = OnRank(f"\n{trace}")


class Driver:
    """One engine, its launcher, and a folder for the files between them.

    Without `folder` it is a temporary one, which goes at the end of `with`.
    """

    def __init__(
        self,
        kind: type[Engine],
        folder: str | os.PathLike[str] | None = None,
        timeout_seconds: float = 60,
    ) -> None:
        self.temporary: TemporaryDirectory[str] | None = None
        if folder is None:
            self.temporary = TemporaryDirectory(prefix="adamant-")
            folder = self.temporary.name
        self.folder = Path(folder)
        self.launcher = Launcher(kind)
        self.ranks = 0
        self.shown = 0
        self.offer = self.must("hello", version=1, timeout_seconds=timeout_seconds)

    # --- requests as they are -------------------------------------------------------------------

    def ask(self, request: str, **fields: Any) -> Message:
        """Send a request and return the reply, whatever it says."""
        line = json.dumps({"id": 0, "request": request, **fields})
        return self.launcher.answer(line.encode())

    def must(self, request: str, *outcomes: str, **fields: Any) -> Message:
        """Send a request; raise `Failed` where its outcome is none of these, or "ok"."""
        reply = self.ask(request, **fields)
        if reply["outcome"] not in (outcomes or ("ok",)):
            raise Failed(request, reply)
        return reply

    # --- worlds -----------------------------------------------------------------------------------

    def open(
        self,
        initial: Values,
        *,
        shard: int = 1,
        replicate: int = 1,
        outer: str = "none",
        layout: str = "fsdp2",
        microbatches: int | None = None,
        order: Sequence[str] | None = None,
        units: Mapping[str, int] | None = None,
        parts: Mapping[str, Sequence[str]] | None = None,
        groups: Mapping[str, Settings] | None = None,
        mode: str = "adamw",
        step_counter: str = "parameter",
        clip: float | None = None,
        loss_scale: float | str = "none",
        types: Mapping[str, str] | None = None,
        options: Mapping[str, str] | None = None,
        **settings: Any,
    ) -> None:
        """Open a world with these whole parameters, registered in their order or in `order`.

        `settings` are those of the group without a name, as `lr`. Each of `groups` has the names of
        its parameters (`params`), and what it has otherwise. All parameters are in unit 0 but where
        `units` says another, and of one part but where `parts` names some. Each rank has one
        microbatch but where `microbatches` says how many there are of all. `types` and `options`
        that are left out are fp32 and the defaults.
        """
        self.ranks = shard * replicate
        world: Message = {"shard": shard, "replicate": replicate}
        first = {"name": "", **GROUP, "bias_correction": True, **settings}
        self.must(
            "open",
            world=world if outer == "none" else {**world, "outer": outer},
            layout=layout,
            microbatches=microbatches or self.ranks,
            params=asking.params(initial, order, units or {}, parts or {}, groups or {}),
            groups=[first, *asking.groups(first, groups or {})],
            optimizer={
                "mode": mode,
                "step_counter": step_counter,
                "clip": clip,
                "loss_scale": loss_scale,
            },
            precision={**TYPES, **(types or {})},
            options={**{key: v[0] for key, v in self.offer["options"].items()}, **(options or {})},
            initial=self._written("initial.safetensors", initial),
        )

    def close(self) -> None:
        """Close the world; its ranks wait for the next one."""
        self.must("close")

    # --- what a program does ----------------------------------------------------------------------

    def backward(
        self,
        gradients: Sequence[Values],
        without: Sequence[str] = (),
        *,
        loss_scale: float = 1.0,
        overflow: Settings | None = None,
    ) -> None:
        """Run a backward with a set of whole gradients for each rank.

        They are sums over the rank's microbatches, and not multiplied by the loss scale. `overflow`
        has the `value` ("inf", "nan") of the element `index` of the reduced gradient `name`, which
        that `rank` sets.
        """
        if len(gradients) != self.ranks:
            raise ValueError(f"backward: {len(gradients)} sets of gradients for {self.ranks} ranks")
        self.must(
            "backward",
            gradients=[self._written(f"gradient-{r}", each) for r, each in enumerate(gradients)],
            without=list(without),
            loss_scale=loss_scale,
            **({} if overflow is None else {"overflow": dict(overflow)}),
        )

    def clip(self) -> Any:
        """Clip gradients; return the norm before, as rank 0 has it: a number, "inf" or "nan"."""
        return self.must("clip")["ranks"][0]["norm"]

    def step(self) -> bool:
        """Step; return whether rank 0 applied it: a scaler may skip it."""
        return bool(self.must("step")["ranks"][0]["applied"])

    def zero_grad(self, *, set_to_none: bool = True) -> None:
        """Drop the gradients, or fill them with zeros."""
        self.must("zero_grad", set_to_none=set_to_none)

    def set(self, *, groups: Mapping[str, Settings] | None = None, **settings: Any) -> None:
        """Change settings of the group without a name, of `groups`, and `clip` or `loss_scale`."""
        world = {key: settings.pop(key) for key in ("clip", "loss_scale") if key in settings}
        changed = [{"name": "", **settings}] if settings else []
        changed += [{"name": name, **own} for name, own in (groups or {}).items()]
        self.must("set", groups=changed, **world)

    def train(self, gradients: Values) -> None:
        """Run an iteration in which every rank has the same gradients."""
        self.backward([gradients] * self.ranks)
        self.step()
        self.zero_grad()

    # --- checkpoints ------------------------------------------------------------------------------

    def path(self, name: str) -> Path:
        """Return where a checkpoint lies, or a file of one (`a/.metadata`)."""
        return self.folder / "checkpoints" / name

    def save(self, name: str, *, crash: tuple[int, int] | None = None) -> Message:
        """Save a checkpoint; return the reply, with `files` and what is `not_carried`.

        With `crash` that rank dies before that operation on files, from 0; where there are fewer,
        the save is whole. After a crash there is no world until the next `open`.
        """
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        directory = str(self.path(name))
        if crash is None:
            return self.must("save", directory=directory)
        rank, operation = crash
        fault = {"rank": rank, "operation": operation}
        return self.must("save", "ok", "died", directory=directory, crash=fault)

    def finish(self) -> Message:
        """Wait for a save whose reply says that it is `unfinished`."""
        return self.must("finish")

    def load(self, name: str) -> Message:
        """Load a checkpoint; return the reply, with what is `not_carried`."""
        return self.must("load", directory=str(self.path(name)))

    def flip(self, file: str, byte: int) -> None:
        """Change one bit of a checkpoint's file."""
        flip(self.path(file), byte)

    # --- what ranks show --------------------------------------------------------------------------

    def state(self, *, whole: bool = False) -> Message:
        """Return the reply to `state`: of each rank its `shards`, `groups`, `scale` and a `file`.

        `adamant_torch.shown` reads such files.
        """
        self.shown += 1
        return self.must("state", prefix=str(self.folder / f"state-{self.shown}"), whole=whole)

    def seen(self, whole: bool = True) -> list[Tensors]:
        """Return what each rank shows: `local/NAME…`, and `whole/NAME…`."""
        return [tensor_file.read(rank["file"]) for rank in self.state(whole=whole)["ranks"]]

    def whole(self) -> Tensors:
        """Return whole tensors as rank 0 sees them."""
        first = self.seen()[0]
        return {name[6:]: value for name, value in first.items() if name.startswith("whole/")}

    def _written(self, name: str, values: Values) -> str:
        path = str(self.folder / name)
        tensor_file.write(path, asking.tensors(values))
        return path

    def __enter__(self) -> Driver:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.launcher.worlds.end()
        if self.temporary is not None:
            self.temporary.cleanup()


@contextmanager
def failures_end_with(status: int) -> Iterator[None]:
    """End the process with this status where something fails that nobody expects here."""
    try:
        yield
    except Exception:
        traceback.print_exc()
        raise SystemExit(status) from None
