"""The process that adamant talks to: one request a line in, one reply a line out.

It imports PyTorch once, pays once for what a first `fully_shard` costs, and forks ranks. An error
of a rank may end its world and not the launcher.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from adamant_torch import hello, requests
from adamant_torch.admission import admit
from adamant_torch.arithmetic import together
from adamant_torch.engine import Engine
from adamant_torch.protocol import (
    VERSION,
    EngineError,
    Message,
    ProtocolError,
    decode,
    encode,
    failure,
    worst,
)
from adamant_torch.requests import field
from adamant_torch.worlds import Worlds

IN_WORLD = ("backward", "clip", "step", "zero_grad", "set", "state", "save", "finish", "load")


class Launcher:
    """Answers requests, one after the other."""

    def __init__(self, kind: type[Engine]) -> None:
        self.offer = hello.reply(kind)
        self.worlds = Worlds(kind)
        self.saved = ""  # the directory of the last save

    def serve(self, lines: Iterable[bytes], replies: BinaryIO) -> None:
        """Answer every line until they end; then end all ranks."""
        try:
            for line in lines:
                if line.strip():
                    replies.write(encode(self.answer(line)))
                    replies.flush()
        except BrokenPipeError:
            pass  # nobody reads: the same as nobody asking
        finally:
            self.worlds.end()

    def answer(self, line: bytes) -> Message:
        """Return the reply to one line."""
        identity: object = None
        try:
            request = decode(line)
            identity = request.get("id")
            return {"id": identity, **self._answer(request)}
        except (ProtocolError, EngineError) as error:
            return {"id": identity, **failure(error)}
        except Exception as error:
            traceback.print_exc()
            self.worlds.discard()
            return {"id": identity, **failure(error)}

    def _answer(self, request: Message) -> Message:
        name = field(request, "request", requests.text, "request")
        if name == "hello":
            return self._hello(request)
        if name == "open":
            return self._open(request)
        if name == "close":
            return self._close()
        if name in IN_WORLD:
            return self._in_world(name, request)
        raise ProtocolError(f"unknown request {name!r}; known: hello, open, close, {IN_WORLD}")

    def _hello(self, request: Message) -> Message:
        version = field(request, "version", int, "hello")
        if version != VERSION:
            raise ProtocolError(f"hello: version {version}; this engine speaks {VERSION}")
        seconds = requests.real(request.get("timeout_seconds", self.worlds.timeout_seconds))
        if seconds != self.worlds.timeout_seconds:  # worlds keep the bound that they began with
            self.worlds.end()
        self.worlds.timeout_seconds = seconds
        return self.offer

    def _open(self, request: Message) -> Message:
        opening = requests.opening(request)
        admit(opening, self.offer["capabilities"], self.offer["options"])
        closed = self._close()
        if closed["outcome"] == "error":  # a save that nobody has waited for
            return closed
        if opening.anew:  # of a process that was used before modules keep what they like
            self.worlds.end()
        self.worlds.take(opening.ranks)
        reply = self._ask(request)
        if reply["outcome"] == "ok":
            reply["arithmetic"] = together(rank["arithmetic"] for rank in reply["ranks"])
        return reply

    def _close(self) -> Message:
        """Let the ranks drop model and optimizer, and keep them for the next world."""
        reply: Message = {"outcome": "ok"}
        if self.worlds.current is not None:
            reply = self._ask({"request": "close"})
            self.worlds.put_back()
        return reply

    def _in_world(self, name: str, request: Message) -> Message:
        if self.worlds.current is None:
            raise ProtocolError(f"{name}: there is no world; open comes first")
        requests.check(name, request, len(self.worlds.current.members))
        reply = self._ask(request)
        if reply["outcome"] == "ok" and name in ("save", "load"):
            reply["not_carried"] = reply["ranks"][0]["not_carried"]
        if name == "save":
            self.saved = request["directory"]
            if any([rank.pop("unfinished", False) for rank in reply["ranks"]]):
                return {**reply, "unfinished": True, "files": []}
        if name in ("save", "finish"):
            reply["files"] = files(self.saved)
        return reply

    def _ask(self, request: Message) -> Message:
        """Ask all ranks. A world in which one failed is ended, but for a load that all refuse."""
        world = self.worlds.current
        assert world is not None
        answers = world.ask(request)
        outcomes = [answer["outcome"] for answer in answers]
        if request["request"] == "load" and set(outcomes) == {"error"} and world.settles():
            self.worlds.put_back()
        elif worst(outcomes) != "ok":
            self.worlds.discard()
        return {"outcome": worst(outcomes), "ranks": answers}


def files(directory: str) -> list[str]:
    """Return all files of a checkpoint, sorted, relative to its directory."""
    root = Path(directory)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
