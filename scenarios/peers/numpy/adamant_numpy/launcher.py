"""The process that speaks the protocol: one line in, one line out, and a forked process per world.

A world that dies or takes too long is replied to as such, and the launcher goes on. Of a request it
knows no more than its name, its id, and whether a world has to answer it.
"""

from __future__ import annotations

import json
import os
import time
from multiprocessing.connection import wait
from typing import Any

from .child import Child, Json, Serve
from .server import HELLO, error

IN_A_WORLD = ("open", "backward", "clip", "step", "zero_grad", "set", "state", "save", "load")


class Lines:
    """Whole lines out of a file descriptor."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.buffer = b""
        self.ended = False

    def fill(self) -> None:
        """Takes what is there; waits if nothing is."""
        chunk = os.read(self.descriptor, 1 << 16)
        self.ended = not chunk
        self.buffer += chunk

    def take(self) -> bytes | None:
        """The next whole line, if it has arrived."""
        line, newline, rest = self.buffer.partition(b"\n")
        if not newline:
            return None
        self.buffer = rest
        return line


class Launcher:
    """Reads requests until the end of input. `serve` answers inside a world's process."""

    def __init__(self, requests: int, replies: int, serve: Serve) -> None:
        self.requests = Lines(requests)
        self.replies = os.fdopen(replies, "wb", closefd=False)
        self.serve = serve
        self.child: Child | None = None
        self.rank_count = 0
        self.timeout_seconds = 20.0

    def run(self) -> None:
        """Answers line by line. When this returns no process is left."""
        while not self.requests.ended:
            line = self.requests.take()
            if line is None:
                self.requests.fill()
                continue
            self.replies.write(json.dumps(self.answer(line)).encode() + b"\n")
            self.replies.flush()
        self.close()

    def answer(self, line: bytes) -> Json:
        """The reply to a line, whatever is in it."""
        try:
            request: Json = json.loads(line)
            number, name = request["id"], request["request"]
        except (ValueError, KeyError, TypeError, RecursionError):
            number, name = None, None
        if type(number) is not int:
            return {"id": None, **error("protocol", f"no request with an id: {line[:80]!r}")}
        return {"id": number, **self.reply_to(name, request)}

    def reply_to(self, name: Any, request: Json) -> Json:
        """The reply to a request, without its id."""
        if name == "hello":
            return self.hello(request)
        if name == "close":
            self.close()
            return {"outcome": "ok"}
        if name not in IN_A_WORLD:
            return error("protocol", f"unknown request {name!r}")
        return self.in_a_world(request)

    def hello(self, request: Json) -> Json:
        """What this engine can do, for a version that it speaks."""
        if request.get("version") != HELLO["version"]:
            return error("protocol", f"version {request.get('version')}; spoken here is 1")
        self.timeout_seconds = float(request.get("timeout_seconds", self.timeout_seconds))
        return {"outcome": "ok", **HELLO}

    def in_a_world(self, request: Json) -> Json:
        """Passes a request on to the world's process, a fresh one for `open`."""
        if request["request"] == "open":
            self.close()
            self.child = Child(self.serve)
        if self.child is None:
            return error("protocol", f"{request['request']}: no world is open")
        self.child.ask(request)
        reply = self.wait(self.child)
        if request["request"] == "open":
            self.rank_count = len(reply.get("ranks", []))
        return reply

    def wait(self, child: Child) -> Json:
        """The world's reply. A world that is late is ended, and with this process's input any.

        A reply that has begun is waited for, however long it takes.
        """
        deadline = time.monotonic() + self.timeout_seconds
        sources: list[Any] = [child.pipe, self.requests.descriptor]
        while ready := wait(sources, max(deadline - time.monotonic(), 0)):
            if child.pipe in ready:
                return child.reply() or self.gone({"outcome": "died", **child.end()})
            self.requests.fill()
            if self.requests.ended:
                return self.gone({"outcome": "died", **child.end()})
        child.end()
        return self.gone({"outcome": "timed_out"})

    def gone(self, how: Json) -> Json:
        """All ranks share one process, so all went the same way."""
        self.child = None
        return {"outcome": how["outcome"], "ranks": [how] * self.rank_count}

    def close(self) -> None:
        """Ends the world, if there is one."""
        if self.child is not None:
            self.child.end()
        self.child = None
