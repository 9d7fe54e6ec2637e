"""A save that goes on while other things happen: begun by `async_save`, waited for later.

`async_save` returns once the state is copied ("staged"); a thread writes the copy, with collectives
of its own. On the process group of the training these would mix with the training's, so a save that
overlaps with it has a group of its own, made once a world.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import torch.distributed as dist
from torch.distributed.checkpoint.state_dict_saver import async_save
from torch.distributed.checkpoint.storage import StorageWriter


@dataclass
class Saving:
    """What was begun, and what is left to do once it is written."""

    written: Future[Any]
    complete: Callable[[], None]

    @classmethod
    def begin(
        cls,
        content: dict[str, Any],
        writer: StorageWriter,
        complete: Callable[[], None],
        *,
        apart: bool,
    ) -> Saving:
        """Begin a save of `content`, which may change once this returns. A collective.

        `complete` is called by who waits, and may be a collective on the training's group. A save
        that is waited for at once needs no group of its own: `apart` asks for it.
        """
        group = group_of_saves() if apart else None
        begun = async_save(content, storage_writer=writer, process_group=group)
        return cls(cast("Future[Any]", begun), complete)

    def wait(self) -> None:
        """Return once the checkpoint is whole; raise what went wrong in writing it."""
        self.written.result()
        self.complete()


@cache
def group_of_saves() -> dist.ProcessGroup:
    """Return the group on which saves of this world meet. The first call is a collective."""
    group: dist.ProcessGroup | None = dist.new_group(backend="gloo")
    assert group is not None  # this rank is in it, as all are
    return group
