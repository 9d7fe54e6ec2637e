"""A forked process that answers requests until it is ended.

It dies with its parent, however that goes. It knows nothing of what the requests mean.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

Json = dict[str, Any]
Serve = Callable[[Json], Json]

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


class Child:
    """The parent's end of a forked process in which `serve` answers."""

    def __init__(self, serve: Serve) -> None:
        forking = multiprocessing.get_context("fork")
        self.pipe, other = forking.Pipe()
        given = (serve, other, self.pipe, os.getpid())
        # A daemon is ended, and not waited for, where the launcher ends without a word to it.
        self.process = forking.Process(target=_serve, args=given, daemon=True)
        self.process.start()
        other.close()

    def ask(self, request: Json) -> None:
        """Sends a request. One that died meanwhile shows in its replies."""
        with suppress(ConnectionError):
            self.pipe.send(request)

    def reply(self) -> Json | None:
        """Waits for what it answers; nothing from one that has ended, be it within its answer."""
        try:
            reply: Json = json.loads(self.pipe.recv_bytes())
        except (EOFError, OSError):
            return None
        return reply

    def end(self) -> dict[str, int]:
        """Ends the process if it has not ended, and says how it did."""
        self.process.kill()
        self.process.join()
        self.pipe.close()
        status = self.process.exitcode or 0
        return {"signal": -status} if status < 0 else {"exit_status": status}


def _serve(serve: Serve, pipe: Any, of_parent: Any, parent: int) -> None:
    of_parent.close()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    while os.getppid() == parent:  # it may have been gone before that
        try:
            request = pipe.recv()
        except EOFError:
            return
        pipe.send_bytes(json.dumps(serve(request)).encode())
