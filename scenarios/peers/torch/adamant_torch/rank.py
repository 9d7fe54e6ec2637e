"""One rank of a world: a process that answers requests from the launcher until its pipe closes."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from adamant_torch import requests, state, tensor_file
from adamant_torch.crash import dying
from adamant_torch.engine import Engine
from adamant_torch.protocol import (
    FRAMES,
    Message,
    ProtocolError,
    decode,
    encode,
    failure,
    number,
)

PR_SET_PDEATHSIG = 1
SLACK_SECONDS = 60.0  # a rank that waits in vain is ended by the launcher, not by gloo before it


@dataclass(frozen=True)
class Seat:
    """A rank's place in its world and the ends of its pipes."""

    rank: int
    ranks: int
    store: str
    timeout_seconds: float
    launcher: int
    reads: int
    writes: int


def die_with(launcher: int) -> None:
    """Make the kernel kill this process when the launcher ends, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != launcher:  # it ended before the line above
        os._exit(0)


class Rank:
    """A rank between an `open` and the next; the process group stays."""

    def __init__(self, seat: Seat, kind: type[Engine]) -> None:
        self.seat = seat
        self.kind = kind
        self.engine: Engine | None = None
        self.meshes: dict[tuple[int, int], DeviceMesh] = {}

    def join(self) -> None:
        """Enter the process group. The store is memory that the launcher made: no port, no file."""
        timeout = timedelta(seconds=self.seat.timeout_seconds + SLACK_SECONDS)
        store = torch._C._distributed_c10d.FileStore(self.seat.store, self.seat.ranks)
        store.set_timeout(timeout)
        dist.init_process_group(
            "gloo", store=store, rank=self.seat.rank, world_size=self.seat.ranks, timeout=timeout
        )

    def answer(self, request: Message) -> Message:
        """Execute one request, by the method of its name; an exception becomes this rank's error.

        DCP's `CheckpointException` is no `Exception`, hence the wider net.
        """
        try:
            if self.engine is not None:
                self.engine.forget_shown()
            verb: Callable[[Message], Message] = getattr(self, request["request"])
            return {"outcome": "ok", **verb(request)}
        except BaseException as error:
            traceback.print_exc(limit=FRAMES, file=sys.stderr)
            return failure(error)

    def running(self) -> Engine:
        """Return the engine that the last `open` made."""
        if self.engine is None:
            raise ProtocolError("there is no world: open comes first")
        return self.engine

    def mesh(self, shard: int, replicate: int) -> DeviceMesh:
        """Return the mesh of that form; its process groups are made once."""
        form = (shard, replicate)
        if form not in self.meshes:
            sizes = {"replicate": replicate, "shard": shard} if replicate > 1 else {"shard": shard}
            self.meshes[form] = init_device_mesh(
                "cpu", tuple(sizes.values()), mesh_dim_names=tuple(sizes)
            )
        return self.meshes[form]

    def let_go(self) -> None:
        """Drop model and optimizer, once a save of theirs has ended."""
        engine, self.engine = self.engine, None
        if engine is not None:
            engine.finish()
            engine.closed()

    def open(self, request: Message) -> Message:
        """Build a new model and optimizer; nothing of the last one is kept."""
        self.let_go()
        opening = requests.opening(request)
        mesh = self.mesh(opening.shard, opening.replicate)
        self.engine = self.kind(opening, mesh, self.seat.rank)
        self.engine.open(tensor_file.read(opening.initial))
        shards = [box.named(name) for name, box in self.engine.shards().items()]
        return {"shards": shards, "arithmetic": self.engine.arithmetic()}

    def backward(self, request: Message) -> Message:
        """Run one backward with this rank's gradients."""
        path = request["gradients"][self.seat.rank]
        without = request.get("without", [])
        overflow = requests.overflow(request)
        self.running().backward(tensor_file.read(path), without, overflow)
        return {}

    def clip(self, _: Message) -> Message:
        """Clip; report the norm before."""
        return {"norm": number(self.running().clip())}

    def step(self, _: Message) -> Message:
        """Step; report whether it was applied."""
        return {"applied": self.running().step()}

    def zero_grad(self, request: Message) -> Message:
        """Drop or zero the gradients."""
        self.running().zero_grad(bool(request.get("set_to_none", True)))
        return {}

    def set(self, request: Message) -> Message:
        """Change settings."""
        self.running().set(request)
        return {}

    def state(self, request: Message) -> Message:
        """Write this rank's state file."""
        return state.write(self.running(), request["prefix"], bool(request.get("whole", False)))

    def save(self, request: Message) -> Message:
        """Write a checkpoint; die in the middle of it where the request says so.

        One save at a time; one that is to crash is waited for, so that the reply tells of it.
        """
        engine, directory, crash = self.running(), request["directory"], requests.crash(request)
        engine.finish()
        if crash is None:
            not_carried = engine.save(directory)
            return {"not_carried": not_carried, "unfinished": engine.saving is not None}
        if crash.rank != self.seat.rank:
            not_carried = engine.save(directory)
            engine.finish()
            return {"not_carried": not_carried}
        with dying(directory, crash.operation) as countdown:
            not_carried = engine.save(directory)
            engine.finish()
            return {"not_carried": not_carried, "operations": countdown.count}

    def finish(self, _: Message) -> Message:
        """Wait for a save that goes on."""
        self.running().finish()
        return {}

    def load(self, request: Message) -> Message:
        """Read a checkpoint."""
        self.running().finish()
        self.running().before_load()
        not_carried = self.running().load(request["directory"])
        self.running().loaded()
        return {"not_carried": not_carried}

    def close(self, _: Message) -> Message:
        """Let go of model and optimizer."""
        self.let_go()
        return {}

    def settle(self, _: Message) -> Message:
        """Let go of model and optimizer; report how many collectives each group has begun."""
        self.let_go()
        groups: list[Any] = list(dist.distributed_c10d._world.pg_map)  # the stubs lack the number
        return {"collectives": [group._get_sequence_number_for_group() for group in groups]}


def keep_to_this_machine() -> None:
    """Make this a CPU process, whatever there is, whose ranks meet on this machine alone."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)


def main(seat: Seat, kind: type[Engine]) -> None:
    """Serve requests until the pipe closes. Does not return."""
    die_with(seat.launcher)
    keep_to_this_machine()
    # DTensor makes a fake mode for each operation on a new shape, and each takes down the stack.
    sys.tracebacklimit = 1
    rank = Rank(seat, kind)
    joined: Message | None = None
    try:
        rank.join()
    except Exception as error:
        traceback.print_exc(limit=FRAMES, file=sys.stderr)
        joined = failure(error)
    with os.fdopen(seat.reads, "rb") as reader, os.fdopen(seat.writes, "wb") as writer:
        for line in reader:
            writer.write(encode(rank.answer(decode(line)) if joined is None else joined))
            writer.flush()
    os._exit(0)
