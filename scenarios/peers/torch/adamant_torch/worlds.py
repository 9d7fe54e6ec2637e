"""Worlds: groups of rank processes, forked from a launcher that has imported everything.

A world is a process group of a fixed size. It is used again by the next `open` of that size, with
a new model, optimizer and scaler; until then its processes are stopped. After any error, death or
timeout it is killed by process id, but for a load that all ranks refuse and settle after. Every
wait for a rank is bounded.
"""

from __future__ import annotations

import contextlib
import gc
import os
import selectors
import signal
import sys
import time
from dataclasses import dataclass, field

from adamant_torch import rank as rank_process
from adamant_torch.engine import Engine
from adamant_torch.protocol import Message, decode, encode
from adamant_torch.warm_up import warm_up

GRACE_SECONDS = 2.0  # how long the others may take to end what they do once one rank has failed
PROCESSES_MAX = 24  # of worlds that are kept for later, of about 25 MB each


@dataclass
class Member:
    """One rank process as the launcher sees it."""

    pid: int
    writes: int
    reads: int
    unread: bytes = b""
    status: int | None = None

    def send(self, message: bytes) -> None:
        """Send a request; that the rank is gone will show when its answer is read."""
        try:
            view = memoryview(message)
            while view:
                view = view[os.write(self.writes, view) :]
        except BrokenPipeError:
            pass

    def receive(self) -> Message | None:
        """Read what is there; return an answer when it is whole, `died` at the end of the pipe."""
        part = os.read(self.reads, 1 << 16)
        if not part:
            return self.died()
        self.unread += part
        line, end, rest = self.unread.partition(b"\n")
        if not end:
            return None
        self.unread = rest
        return decode(line)

    def died(self) -> Message:
        """Return how the process ended."""
        if self.status is None:
            _, self.status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(self.status):
            return {"outcome": "died", "signal": os.WTERMSIG(self.status)}
        return {"outcome": "died", "exit_status": os.WEXITSTATUS(self.status)}

    def tell(self, what: signal.Signals) -> None:
        """Send a signal to the process, where it has not ended."""
        if self.status is None:
            os.kill(self.pid, what)

    def end(self) -> None:
        """End the process and take it off the system's table."""
        self.tell(signal.SIGKILL)
        if self.status is None:
            _, self.status = os.waitpid(self.pid, 0)


@dataclass
class World:
    """A process group of a fixed size."""

    timeout_seconds: float
    members: list[Member] = field(default_factory=list)

    @classmethod
    def fork(cls, ranks: int, timeout_seconds: float, kind: type[Engine]) -> World:
        """Fork `ranks` processes that meet in a store without name."""
        world = cls(timeout_seconds)
        store = os.memfd_create("adamant-store")
        sys.stdout.flush()
        sys.stderr.flush()
        gc.freeze()  # what the launcher made stays shared: collections in ranks do not touch it
        for rank in range(ranks):
            world.members.append(world._fork_one(rank, ranks, store, kind))
        gc.unfreeze()
        os.close(store)
        return world

    def _fork_one(self, rank: int, ranks: int, store: int, kind: type[Engine]) -> Member:
        rank_reads, writes = os.pipe()
        reads, rank_writes = os.pipe()
        launcher = os.getpid()
        pid = os.fork()
        if pid != 0:
            os.close(rank_reads)
            os.close(rank_writes)
            return Member(pid, writes, reads)
        try:
            keep = {2, store, rank_reads, rank_writes}
            _only_descriptors(keep)
            seat = rank_process.Seat(
                rank=rank,
                ranks=ranks,
                store=f"/proc/self/fd/{store}",
                timeout_seconds=self.timeout_seconds,
                launcher=launcher,
                reads=rank_reads,
                writes=rank_writes,
            )
            rank_process.main(seat, kind)
        finally:
            os._exit(1)

    def ask(self, request: Message) -> list[Message]:
        """Send `request` to all ranks and return their answers in rank order.

        An answer is `timed_out` where none came in time: `timeout_seconds` for all, and
        `GRACE_SECONDS` once a rank has failed, because the others may wait for it forever. Once
        one has died the world has no use, and each that failed is ended, too: who waits for it
        learns so at once.
        """
        line = encode(request)
        for member in self.members:
            member.send(line)
        answers: dict[int, Message] = {}
        deadline = time.monotonic() + self.timeout_seconds
        with selectors.DefaultSelector() as selector:
            for index, member in enumerate(self.members):
                selector.register(member.reads, selectors.EVENT_READ, index)
            while len(answers) < len(self.members):
                ready = selector.select(max(0.0, deadline - time.monotonic()))
                if not ready:
                    break
                for key, _ in ready:
                    answer = self.members[key.data].receive()
                    if answer is None:
                        continue
                    answers[key.data] = answer
                    selector.unregister(key.fd)
                    if answer["outcome"] != "ok":
                        deadline = min(deadline, time.monotonic() + GRACE_SECONDS)
                if any(answer["outcome"] == "died" for answer in answers.values()):
                    for index, answer in answers.items():
                        if answer["outcome"] == "error":
                            self.members[index].end()
        return [answers.get(index, {"outcome": "timed_out"}) for index in range(len(self.members))]

    def settles(self) -> bool:
        """Let go of model and optimizer after an error that every rank reported.

        Returns whether the world may be used again: every collective that one rank has begun,
        each other rank has begun as well, so that the next one meets its own.
        """
        answers = self.ask({"request": "settle"})
        return all(answer == answers[0] and answer["outcome"] == "ok" for answer in answers)

    def sleep(self) -> None:
        """Stop all ranks until `wake`: each of gloo's threads looks for work 100 times a second."""
        for member in self.members:
            member.tell(signal.SIGSTOP)

    def wake(self) -> None:
        """Let all ranks go on."""
        for member in self.members:
            member.tell(signal.SIGCONT)

    def kill(self) -> None:
        """End all ranks at once, and close their pipes."""
        for member in self.members:
            member.tell(signal.SIGKILL)
        for member in self.members:
            member.end()
            os.close(member.writes)
            os.close(member.reads)
        self.members.clear()


class Worlds:
    """The world in use and those kept for later, at most one of each size."""

    def __init__(self, kind: type[Engine]) -> None:
        self.kind = kind
        self.timeout_seconds = 20.0
        self.warm = False
        self.kept: dict[int, World] = {}  # by size, longest unused first
        self.current: World | None = None

    def take(self, ranks: int) -> World:
        """Return a world of that size, kept or new, and make it the one in use.

        The longest unused of the others make room, and none that is wanted again at once.
        """
        world = self.kept.pop(ranks, None)
        while sum(self.kept) > PROCESSES_MAX:
            self.kept.pop(next(iter(self.kept))).kill()
        if world is None:
            if not self.warm:  # who only says hello need not pay for it
                warm_up()
                self.warm = True
            world = World.fork(ranks, self.timeout_seconds, self.kind)
        world.wake()
        world.timeout_seconds = self.timeout_seconds
        self.current = world
        return world

    def put_back(self) -> None:
        """Keep the world in use for later."""
        if self.current is not None:
            self.current.sleep()
            self.kept[len(self.current.members)] = self.current
            self.current = None

    def discard(self) -> None:
        """End the world in use."""
        if self.current is not None:
            self.current.kill()
        self.current = None

    def end(self) -> None:
        """End all worlds."""
        self.discard()
        for world in self.kept.values():
            world.kill()
        self.kept.clear()


def _only_descriptors(keep: set[int]) -> None:
    """Close what a rank inherited and does not use; its standard output is standard error."""
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    # A test's caller may have put what is to be printed into a file, which is closed below.
    sys.stdout = sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        if descriptor > 2 and descriptor not in keep:
            with contextlib.suppress(OSError):  # the one that listed the directory
                os.close(descriptor)
