"""In which order PyTorch sees the files of a Hugging Face checkpoint: `directory_order`.

Its reader and its consolidation list a directory and take what the file system says first, first.
Where two files hold the same rows that order decides which count. Here it is the scenario's, so
that what happens happens again on any file system.
"""

from __future__ import annotations

import glob
import os
from typing import Any
from unittest import mock

from torch.distributed.checkpoint.filesystem import FileSystem
from torch.distributed.checkpoint.hf_storage import (
    HuggingFaceStorageReader,
    HuggingFaceStorageWriter,
)

ORDERS = ["sorted", "reversed"]


def in_order(names: list[str], order: str) -> list[str]:
    """Return names in one of `ORDERS`."""
    return sorted(names, reverse=order == "reversed")


class Listed(FileSystem):
    """A file system that lists directories in a chosen order."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.order = order

    def ls(self, path: str | os.PathLike[str]) -> list[str]:
        """Return the files of a directory."""
        return in_order(super().ls(path), self.order)


class Reader(HuggingFaceStorageReader):
    """PyTorch's reader over a directory that is listed in a chosen order."""

    def __init__(self, path: str, order: str) -> None:
        super().__init__(path)
        self.fs = Listed(order)


class Writer(HuggingFaceStorageWriter):
    """PyTorch's writer; what it consolidates it finds in a chosen order."""

    def __init__(self, path: str, order: str, consolidates: bool) -> None:
        super().__init__(path, save_distributed=True, enable_consolidation=consolidates)
        self.order = order

    def finish(self, *arguments: Any, **named: Any) -> None:
        """Put the shards together, which `glob` lists."""
        listed = glob.glob

        def ordered(*of: Any, **like: Any) -> list[str]:
            return in_order(listed(*of, **like), self.order)

        with mock.patch.object(glob, "glob", ordered):
            super().finish(*arguments, **named)
