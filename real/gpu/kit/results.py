"""Files of results that are whole at any time, and what is known of each step.

A file is written beside its place and renamed: who is cut off leaves the one of before. There are
seven names, so that with one that is being written eight files are there at most.
"""

import errno
import os
import pathlib
import shutil

from kit.refusal import BadInput, Lacking

NAMES = ("page.md", "results.json", "corpus.json", "fuzz.json", "found.txt", "tools.txt", "log.txt")
PART = ".part"
FILE_MAX = 15 << 20  # bytes
FREE_LEAST = 32 << 20
LINES_MAX = 12  # of the output of what failed


class Record:
    """A step, and what became of it."""

    def __init__(self, name, what):
        self.name = name
        self.what = what
        self.outcome = "not run"  # well, not well, lacking, cut off
        self.why = "it was not reached"
        self.seconds = 0.0
        self.counts = {}
        self.failed = []
        self.rows = []

    def ends(self, outcome, why=""):
        self.outcome = outcome
        self.why = why

    def add_failed(self, name, result, text):
        lines = [line for line in text.splitlines() if line.strip()][-LINES_MAX:]
        self.failed.append({"name": name, "result": result, "last_lines": lines})

    def as_json(self):
        return {
            "name": self.name,
            "what": self.what,
            "outcome": self.outcome,
            "why": self.why,
            "seconds": round(self.seconds, 1),
            "counts": self.counts,
            "failed": self.failed,
            "rows": self.rows,
        }


def shortened(text):
    """Begin and end of what would be too long to travel."""
    data = text.encode(errors="replace")
    if len(data) <= FILE_MAX:
        return data
    half = FILE_MAX // 2 - 100
    left_out = f"\n[{len(data) - 2 * half} bytes are left out here]\n".encode()
    return data[:half] + left_out + data[-half:]


def as_refusal(error, path):
    """What the system said, as a sentence."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Lacking(
            f"the disk under {path.parent} is full: {path.name} could not be written, and what was"
            " written before it is kept: make room, or give another folder by --into DIR"
        )
    return BadInput(f"{path} cannot be written: {error.strerror}: give another folder by --into DIR")


class Results:
    """A folder of them, in which paths begin at the root: they may travel."""

    def __init__(self, folder, root):
        self.folder = pathlib.Path(folder)
        self.root = root
        self.made = not self.folder.exists()

    def prepare(self):
        """Makes the folder. BadInput and Lacking say why nothing can be kept there."""
        probe = self.folder / ("log.txt" + PART)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise as_refusal(error, probe) from error
        if (self.folder / "results.json").exists():
            raise BadInput(f"{self.folder} has the results of another run: give another folder by --into DIR")
        free = shutil.disk_usage(self.folder).free
        if free < FREE_LEAST:
            raise Lacking(
                f"the disk under {self.folder} has {free >> 20} MiB free, {FREE_LEAST >> 20} MiB are"
                " needed: make room, or give another folder by --into DIR"
            )

    def write(self, name, text):
        """One of the names, anew."""
        if name not in NAMES:
            raise ValueError(name)
        path, part = self.folder / name, self.folder / (name + PART)
        try:
            with open(part, "wb") as stream:
                stream.write(shortened(self._travelling(text)))
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(part, path)
        except OSError as error:
            self._drop(part)
            raise as_refusal(error, path) from error

    def _travelling(self, text):
        return text.replace(f"{self.root}/", "").replace(str(self.folder), self.folder.name)

    def _drop(self, part):
        try:
            part.unlink()
        except OSError:
            pass

    def remove_if_empty(self):
        """Leaves no folder behind in which nothing was kept."""
        if self.made:
            try:
                self.folder.rmdir()
            except OSError:
                pass


def unused_folder(root, name):
    """`root/name`, or with a number behind it where there are results already."""
    folder, number = root / name, 1
    while folder.exists():
        number += 1
        folder = root / f"{name}-{number}"
    return folder
