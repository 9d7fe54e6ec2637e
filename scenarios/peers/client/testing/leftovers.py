"""What a program and all that it started hold, and what of that is left when it is gone.

Processes are found by a mark in their environment, which forks and new programs inherit: one whose
parent has died is found as well. Sockets are found by their inodes; files by where they lie, or,
in folders that others use too, by a name that begins as adamant's or PyTorch's do and goes on with
the number of one of the processes. Linux alone.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

MARK = "ADAMANT_CAMPAIGN"
SHARED = (Path("/dev/shm"), Path("/tmp"))
OWNER = re.compile(r"(?:adamant-|torch_)(\d+)")  # what begins otherwise is somebody else's
CLEANER = "adamant-cleanup"  # waits for the death of another process to remove its files
KEEPER = "adamant-keeper"  # stands between an engine and who started it


@dataclass(frozen=True)
class Process:
    """A process as /proc shows it."""

    pid: int
    parent: int
    name: str
    program: str

    def __str__(self) -> str:
        return f"process {self.pid} ({self.name}), whose parent is {self.parent}"


def processes(mark: str) -> dict[int, Process]:
    """Return the living processes with that mark. One that ends meanwhile is left out."""
    wanted = f"{MARK}={mark}\0".encode()
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted not in (folder / "environ").read_bytes():  # empty for those that have ended
                continue
            name, _, rest = (folder / "stat").read_text().partition(" (")[2].rpartition(") ")
            pid, parent = int(folder.name), int(rest.split()[1])
            found[pid] = Process(pid, parent, name, os.readlink(folder / "exe"))
    return found


def descriptors(pid: int) -> Iterator[str]:
    """Yield what the descriptors of a process are, as far as it lives."""
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                yield os.readlink(descriptor)


def open_sockets() -> set[str]:
    """Return the inodes of all sockets that this machine's processes hold."""
    found = set()
    for table, column in (("tcp", 9), ("tcp6", 9), ("udp", 9), ("udp6", 9), ("unix", 6)):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                found.add(line.split()[column])
    return found


@dataclass(frozen=True)
class Roles:
    """Who is who below a program: its workers, their engines, the engines' ranks."""

    workers: list[int]
    engines: list[int]
    ranks: list[int]

    @classmethod
    def of(cls, living: dict[int, Process], root: int) -> Roles:
        """Tell by descent; `root` and its workers are the same program."""
        own = living[root].program if root in living else ""
        named = [p for p in living.values() if p.name not in (CLEANER, KEEPER)]
        workers = [p.pid for p in named if p.parent == root and p.program == own]
        owners = {root, *workers}
        keepers = {p.pid for p in living.values() if p.name == KEEPER and p.parent in owners}
        engines = [p.pid for p in named if p.parent in keepers and p.program != own]
        ranks = [p.pid for p in named if p.parent in engines]
        return cls(sorted(workers), sorted(engines), sorted(ranks))


@dataclass
class Watch:
    """What was seen of a running program."""

    mark: str
    root: int
    pids: set[int] = field(default_factory=set)
    sockets: set[str] = field(default_factory=set)
    spare: dict[int, list[int]] = field(default_factory=dict)

    def look(self) -> Roles:
        """Look once more."""
        living = processes(self.mark)
        roles = Roles.of(living, self.root)
        self.pids |= living.keys()
        held = {pid: list(descriptors(pid)) for pid in living}
        for names in held.values():
            self.sockets |= {name[8:-1] for name in names if name.startswith("socket:[")}
        later = processes(self.mark).keys()
        for pid in roles.engines:
            ranks = {rank for rank in roles.ranks if living[rank].parent == pid}
            if ranks and ranks <= later:  # else pipes may have been closed before they were counted
                # A pipe there and a pipe back for each of them are as they should be.
                self.spare.setdefault(pid, []).append(len(held[pid]) - 2 * len(ranks))
        return roles

    def grown(self, slack: int = 4) -> list[str]:
        """Return the engines that held ever more descriptors; `slack` are opened once and kept."""
        found = []
        for pid, counts in self.spare.items():
            half = len(counts) // 2
            early, late = min(counts[:half], default=0), min(counts[half:], default=0)
            if half >= 5 and late > early + slack:
                found.append(f"engine {pid}: {early} descriptors early in the round, {late} late")
        return found


class Folders:
    """Where a program may leave files: in a folder of its own, and in those that everybody uses."""

    def __init__(self, private: Path) -> None:
        self.private = private
        self.before = set(in_shared_folders())

    def files(self, pids: set[int]) -> list[Path]:
        """Return what lies in the private folder, and what is new in others and names its owner."""
        found = [path for path in sorted(self.private.iterdir()) if not is_cache(path)]
        for path in in_shared_folders():
            owner = OWNER.match(path.name)
            if path not in self.before and owner and int(owner[1]) in pids:
                found.append(path)
        return found


def in_shared_folders() -> list[Path]:
    """Return everything that lies there, of whomever it is."""
    found: list[Path] = []
    for folder in SHARED:
        with contextlib.suppress(OSError):
            found += sorted(folder.iterdir())
    return found


def is_cache(path: Path) -> bool:
    """Return whether it is the empty folder that PyTorch makes for its compiler at import."""
    return path.name.startswith("torchinductor_") and path.is_dir() and not any(path.iterdir())


def left(watch: Watch, folders: Folders) -> list[str]:
    """Return in words what is left of a program that has ended."""
    living = processes(watch.mark)
    found = [str(process) for process in living.values()]
    found += [f"socket with inode {inode}" for inode in sorted(watch.sockets & open_sockets())]
    return found + [f"file {path}" for path in folders.files(watch.pids | living.keys())]


def sweep(watch: Watch, folders: Folders) -> None:
    """End all processes that are left; remove files of which it is certain whose they are."""
    for pid in processes(watch.mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for path in folders.files(watch.pids):
        if path.name.startswith("adamant-"):
            shutil.rmtree(path, ignore_errors=True)
