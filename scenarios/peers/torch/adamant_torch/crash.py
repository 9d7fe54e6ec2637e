"""A rank that dies in the middle of a save: it kills itself before one of its file operations.

Counted are this process's operations on paths inside the checkpoint's directory, and on those that
a save may use beside it: open, write (what reaches the system, not what a buffer takes), sync,
rename, unlink and their like. Opening and what
follows it raise audit events; writing and syncing do not and are counted by wrappers. Making a
directory is not counted: which rank comes first is a race. Operations of C++ code that opens files
by itself are not seen; DCP hands it Python's streams.
"""

from __future__ import annotations

import builtins
import io
import os
import pathlib
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any
from unittest import mock

from adamant_torch.saves import beside

PATH_EVENTS = {  # audit event: how many of its first arguments are paths
    "open": 1,
    "os.rename": 2,
    "os.remove": 1,
    "os.rmdir": 1,
    "os.link": 2,
    "os.symlink": 2,
    "os.truncate": 1,
}


class Countdown:
    """Counts operations inside a directory and dies before operation `fatal`, from 0."""

    def __init__(self, directory: str, fatal: int) -> None:
        self.directory = os.path.realpath(directory)
        parent, name = os.path.split(beside(directory))
        self.beside = os.path.join(os.path.realpath(parent), name)
        self.fatal = fatal
        self.count = 0

    def inside(self, path: object) -> bool:
        """Return whether `path` is the directory, lies in it, or in what a save made beside it."""
        if isinstance(path, int):
            try:
                path = os.readlink(f"/proc/self/fd/{path}")
            except OSError:
                return False
        if not isinstance(path, (str, bytes, os.PathLike)):
            return False
        real = os.path.realpath(os.fsdecode(path))
        places = (self.directory + os.sep, self.beside)
        return real == self.directory or real.startswith(places)

    def operation(self, *paths: object) -> None:
        """Count an operation on `paths` if it is on this checkpoint, and die if it is the one."""
        if not any(self.inside(path) for path in paths):
            return
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        self.count += 1


class CountedFile(io.FileIO):
    """A file without buffer whose writes are counted: each is one that reaches the system."""

    def __init__(self, path: Any, mode: str, countdown: Countdown) -> None:
        super().__init__(path, mode)
        self._countdown = countdown

    def write(self, data: Any) -> int:
        """Count, then write."""
        self._countdown.operation(self.fileno())
        return super().write(data)


def counted_stream(path: Any, mode: str, countdown: Countdown, encoding: str | None) -> IO[Any]:
    """Return what `open` would for a mode that writes, over a counted file."""
    raw = CountedFile(path, mode.replace("b", "").replace("t", ""), countdown)
    buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding)


_current: Countdown | None = None
_hooked = False


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    paths = PATH_EVENTS.get(event)
    if paths is not None and _current is not None:
        _current.operation(*arguments[:paths])


@contextmanager
def dying(directory: str, fatal: int) -> Iterator[Countdown]:
    """Kill this process before its operation `fatal` on `directory`, if it comes to that."""
    global _current, _hooked
    if not _hooked:  # audit hooks cannot be taken off again
        sys.addaudithook(_audit)
        _hooked = True
    countdown = Countdown(directory, fatal)
    plain_sync = os.fsync

    def counting(plain: Callable[..., Any]) -> Callable[..., Any]:
        def opened(file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
            if countdown.inside(file) and any(letter in mode for letter in "wax+"):
                return counted_stream(file, mode, countdown, named.get("encoding"))
            return plain(file, mode, *rest, **named)

        return opened

    def sync(descriptor: Any) -> None:
        countdown.operation(descriptor)
        plain_sync(descriptor)

    _current = countdown
    try:
        with (
            mock.patch.object(builtins, "open", counting(open)),
            mock.patch.object(pathlib.Path, "open", counting(pathlib.Path.open)),
            mock.patch.object(os, "fsync", sync),
        ):
            yield countdown
    finally:
        _current = None
