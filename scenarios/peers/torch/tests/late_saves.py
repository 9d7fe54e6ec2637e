"""Engines whose saves write nothing until somebody waits for them.

So what comes between a save and the wait surely comes before the files.
"""

from __future__ import annotations

import threading
from typing import Any
from unittest import mock

from torch.distributed.checkpoint.filesystem import FileSystemWriter

from adamant_torch import Engine, checkpoint

_waited_for = threading.Event()  # in each rank's process


class LateWriter(FileSystemWriter):
    """Writes as late as it can."""

    def write_data(self, *arguments: Any) -> Any:
        """Write once the save is waited for."""
        _waited_for.wait()
        return super().write_data(*arguments)


class ReferringWriter(LateWriter):
    """Keeps references where it should have copied."""

    def stage(self, state_dict: Any) -> Any:
        """Return what the training goes on to change."""
        return state_dict


class FailingWriter(LateWriter):
    """Has no room left."""

    def write_data(self, *_: Any) -> Any:
        """Fail."""
        raise OSError("no room for it")


class Late(Engine):
    """Saves by a writer that takes its time."""

    writer: type[FileSystemWriter] = LateWriter

    def save(self, directory: str) -> list[str]:
        """Save by this class's writer."""
        _waited_for.clear()
        writer = self.writer
        with mock.patch.object(checkpoint, "writer", lambda _, path: writer(path)):
            return super().save(directory)

    def finish(self) -> None:
        """Let the writer go on, and wait for it."""
        _waited_for.set()
        super().finish()


class Refers(Late):
    """Saves what is there when it is written, which is too late."""

    writer = ReferringWriter


class Fails(Late):
    """Cannot write."""

    writer = FailingWriter


class Plain(Engine):
    """PyTorch as it is."""
