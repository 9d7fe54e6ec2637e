"""A forked process that answers requests until it is ended, and lines over pipes.

It dies with its parent, however that goes. It knows nothing of what the requests mean.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

Serve = Callable[[dict[str, Any]], dict[str, Any]]

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


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


class Child:
    """The parent's end of a forked process in which `serve` answers."""

    def __init__(self, serve: Serve) -> None:
        to_read, to_write = os.pipe()
        from_read, from_write = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(to_write)  # else it would itself keep its requests from ending
            os.close(from_read)
            _die_with(parent)
            _serve(serve, Lines(to_read), from_write)
        os.close(to_read)
        os.close(from_write)
        self.requests = os.fdopen(to_write, "wb")
        self.replies = Lines(from_read)

    def ask(self, request: dict[str, Any]) -> None:
        """Sends a request. One that died meanwhile shows in its replies."""
        try:
            self.requests.write(json.dumps(request).encode() + b"\n")
            self.requests.flush()
        except BrokenPipeError:
            self.requests = open(os.devnull, "wb")  # noqa: SIM115 (closed in end())

    def end(self) -> dict[str, int]:
        """Ends the process if it has not ended, and says how it did."""
        os.kill(self.pid, signal.SIGKILL)
        status = os.waitpid(self.pid, 0)[1]
        self.requests.close()
        os.close(self.replies.descriptor)
        if os.WIFSIGNALED(status):
            return {"signal": os.WTERMSIG(status)}
        return {"exit_status": os.WEXITSTATUS(status)}


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was gone before that
        os._exit(0)


def _serve(serve: Serve, requests: Lines, replies: int) -> NoReturn:
    try:
        with os.fdopen(replies, "wb") as out:
            while not requests.ended:
                line = requests.take()
                if line is None:
                    requests.fill()
                    continue
                out.write(json.dumps(serve(json.loads(line))).encode() + b"\n")
                out.flush()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
