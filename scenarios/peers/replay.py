"""Plays what `adamant run --script` recorded: `python3 replay.py FILE.session.json [COMMAND]`.

It starts the engine that the session names, or COMMAND, sends the same requests, prints what was
expected and what came, and leaves neither process nor file. Exit status 1: the defect shows, 0: it
does not, 2: something else failed. It needs the standard library alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
FLIPPED = 0x10  # of a byte that damage changes
OUTCOMES = ("ok", "error", "died", "timed_out")  # of failed ranks the first one says best why
FORMATS = {"F32": ("f", 4), "BF16": ("f", 2), "F16": ("e", 2), "U8": ("B", 1)}  # and bytes


def write_tensors(path: Path, tensors: Json) -> None:
    """Write binary32 numbers as a safetensors file."""
    header: Json = {}
    data = b""
    for name, tensor in tensors.items():
        part = b"".join(struct.pack("<f", float(value)) for value in tensor["values"])
        place = [len(data), len(data) + len(part)]
        header[name] = {"dtype": "F32", "shape": tensor["shape"], "data_offsets": place}
        data += part
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_tensors(path: str) -> tuple[Json, bytes]:
    """Return the header of a safetensors file, and what is behind it."""
    data = Path(path).read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    return header, data[begin:]


def as_binary32(value: Any) -> float:
    """Return a number of a reply as adamant reads it."""
    return float(struct.unpack("<f", struct.pack("<f", float(value)))[0])


def look_at(side: Json, state: Json) -> Any:
    """Return one side of a comparison: what `state`, or a checkpoint, has at that place."""
    kind = side["look"]
    if kind == "files":
        paths = sorted(Path(side["checkpoint"]).rglob(side["pattern"]))
        return str({at.name: hashlib.sha256(at.read_bytes()).hexdigest()[:16] for at in paths})
    if kind == "restored":
        return restored(state, side["parts"])
    rank = state["ranks"][side["rank"]]
    if kind in ("number", "code", "dtype", "presence"):
        return look_at_file(side, rank["file"])
    if kind == "scale":
        return as_binary32(rank["scale"].get(side["of"], side["otherwise"]) or 0).hex()
    if kind == "setting":
        value = {group["name"]: group for group in rank["groups"]}[side["group"]][side["of"]]
        return f"{as_binary32(value[side['beta']] if 'beta' in side else value):.9g}"
    shard = {shard["name"]: shard for shard in rank["shards"]}[side["of"]]
    if kind == "steps":
        return str(shard["steps"])
    if kind == "gradient":
        return "a gradient" if shard["has_gradient"] else "no gradient"
    begin, rows = shard["offsets"][0], shard["shape"][0]
    return f"rows {begin} to {begin + rows}" if rows else "no rows"


def look_at_file(side: Json, path: str) -> str:
    """Return what a rank's tensors have at that place."""
    header, data = read_tensors(path)
    if side["look"] == "presence":
        return "a tensor" if side["of"] in header else "nothing"
    if side.get("may_be_missing") and side["of"] not in header:
        return (0.0).hex()  # a moment that was not made yet
    tensor = header[side["of"]]
    if side["look"] == "dtype":
        return str(tensor["dtype"])
    (letter, size), begin = FORMATS[tensor["dtype"]], tensor["data_offsets"][0]
    bits = data[begin + size * side["index"] :][:size]
    found = struct.unpack("<" + letter, bits if tensor["dtype"] != "BF16" else bytes(2) + bits)[0]
    if side["look"] == "number":
        return float(found).hex()
    code = found if "half" not in side else found >> 4 if side["half"] else found & 15
    return f"code {code:#04x}"


def restored(state: Json, parts: list[str]) -> Json:
    """Return what a load restores, in any world; where zeros end a tensor they are left out."""
    steps: Json = {}
    tensors: dict[str, dict[int, bytes]] = {}
    for rank in state["ranks"]:
        header, data = read_tensors(rank["file"])
        for shard, part in ((shard, part) for shard in rank["shards"] for part in parts):
            steps[shard["name"] + "/step"] = shard["steps"]
            tensor = header.get(f"local/{shard['name']}{part}", {"data_offsets": (0, 0)})
            rows = tensors.setdefault(shard["name"] + part, {})
            if bits := data[slice(*tensor["data_offsets"])]:
                rows[0 if part.endswith("scale") else shard["offsets"][0]] = bits
    whole = {key: b"".join(rows[row] for row in sorted(rows)) for key, rows in tensors.items()}
    return steps | {key: bits.rstrip(b"\0") for key, bits in whole.items()}


class Player:
    """An engine in a process of its own, which is asked what it was asked then."""

    def __init__(self, command: str, seconds: int) -> None:
        self.seconds = seconds
        self.engine = subprocess.Popen(
            command, shell=True, text=True, stdin=-1, stdout=-1, start_new_session=True
        )
        signal.signal(signal.SIGALRM, lambda *_: self.kill())

    def kill(self) -> None:
        """End the engine with all that it started."""
        os.killpg(self.engine.pid, signal.SIGKILL)

    def ask(self, request: Json) -> Json:
        """Send a request and return the reply; an engine that is late is killed."""
        for damage in request.get("damage", []):
            do_damage(**damage)
        line = json.dumps({"id": 0, "request": request["request"], **request["fields"]})
        print(line, file=self.engine.stdin, flush=True)
        signal.alarm(self.seconds)
        assert self.engine.stdout is not None
        reply: Json = json.loads(self.engine.stdout.readline() or '{"outcome": "no answer"}')
        signal.alarm(0)
        if reply["outcome"] not in OUTCOMES:
            raise ValueError(f"{request['request']}: {reply}")
        return reply

    def must(self, request: Json) -> Json:
        """Return the reply to a request, which has to end as it did then."""
        reply = self.ask(request)
        if reply["outcome"] not in request.get("outcomes", ["ok"]):
            raise ValueError(f"{request['request']}: {reply}")
        for kept, older in [request["keep"]] if "keep" in request else []:
            shutil.copytree(kept, older, dirs_exist_ok=True)
        return reply

    def play(self, requests: list[Json], shows: Json) -> Json:
        """Play requests up to the one that shows the defect; return the sides of a comparison."""
        if "sides" not in shows:
            for request in requests[:-1]:
                self.must(request)
            return {"actual": self.watched(requests[-1], shows["kind"])}
        seen: Json = {}
        for number, request in enumerate(requests):
            reply = self.must(request)
            for name, side in shows["sides"].items():
                if side["after"] == number:
                    seen[name] = look_at(side, reply)
        return seen

    def watched(self, request: Json, kind: str) -> Any:
        """Return what fails in the reply to a request, or a text where nothing does."""
        try:
            reply = self.ask(request)
        except (OSError, ValueError, LookupError, TypeError):
            if kind != "no_answer":
                raise
            return "none"
        if kind == "no_answer":
            return "an answer"
        failed = [rank for rank in reply.get("ranks") or [reply] if rank["outcome"] != "ok"]
        return min(failed, key=lambda rank: OUTCOMES.index(rank["outcome"]), default="no failure")

    def all_shown(self, requests: list[Json]) -> Iterator[tuple[str, str]]:
        """Play requests; yield all that ranks hold behind each, every number by its name."""
        when = ""
        for request in requests:
            reply = self.must(request)
            if request["request"] != "state":
                when = f"after {request['request']}"
                continue
            for number, rank in enumerate(reply["ranks"]):
                header, data = read_tensors(rank.pop("file"))
                values = {"its reply": [json.dumps(rank)]}
                for name, at in header.items():
                    values[name] = data[slice(*at["data_offsets"])].hex(" ", -4).split()
                for name, found in values.items():
                    for index, value in enumerate(found):
                        yield f"rank {number} {when}, {name}[{index}]", value


def do_damage(then: str, file: str, at: int = 0, older: str = "") -> None:
    """Do to a file what was done to it then."""
    if then == "flip_byte":
        data = bytearray(Path(file).read_bytes())
        data[at] ^= FLIPPED
        Path(file).write_bytes(data)
    elif then == "truncate":
        os.truncate(file, at)
    elif then == "remove_file":
        os.remove(file)
    else:
        shutil.copy(older, file)


def is_like(failure: Json, text: str = "", **like: Any) -> bool:
    """Return whether a failure is the one that was seen then."""
    said = {**failure, **failure.get("error", {})}
    return text in str(said.get("text")) and all(said.get(key) == like[key] for key in like)


def verdict(shows: Json, seen: Json) -> int:
    """Print both sides; return the exit status."""
    kind, place, actual = shows["kind"], shows["place"], seen["actual"]
    if kind == "either":
        older, newer = seen["older"], seen["newer"]
        for key, value in actual.items():
            told = f"of the older save: {value == older[key]}, of the newer: {value == newer[key]}"
            print(f"{key}: {told}")
        return int(actual not in (older, newer))
    expected = seen.get("expected", shows.get("expected"))
    if kind == "ranks":
        first, second = shows["ranks"]
        print(f"{place}: rank {first} has {expected}, rank {second} has {actual}")
        return int(actual != expected)
    print(f"{place}: expected {in_words(expected, shows)}")
    print(f"{place}: actual   {in_words(actual, shows)}")
    if kind == "failure":
        return 0 if actual == expected else 1 if is_like(actual, **shows["like"]) else 2
    if kind == "no_failure":
        return int(actual == "no failure" or "incompatible_checkpoint" in str(actual))
    return int(not is_allowed(actual, expected))


def is_allowed(actual: str, expected: Any) -> bool:
    """Return whether this is the text, or a number of the interval, that has to come."""
    if not isinstance(expected, dict):
        return bool(actual == expected)
    between = "low" in expected and (
        float.fromhex(expected["low"]) <= float.fromhex(actual) <= float.fromhex(expected["high"])
    )
    return between or actual in expected["or"]


def in_words(side: Any, shows: Json) -> str:
    """Return one side as people read it; of a failure what was raised, and where."""
    if isinstance(side, dict) and "outcome" in side:
        error: Json = side.get("error", {})
        where = f", at {error['where']}" if "where" in error else ""
        told = [f"{key} {side[key]}" for key in ("signal", "exit_status") if key in side]
        raised = f"{error.get('type')}: {error.get('text')}{where}"
        return raised if error else ", ".join([side["outcome"], *told])
    if isinstance(side, dict) and "or" in side:
        ends = [float.fromhex(side[end]).hex() for end in ("low", "high") if end in side]
        return " or ".join(([f"[{', '.join(ends)}]"] if ends else []) + side["or"])
    return f"{side} = {float.fromhex(side)}" if shows.get("number") else str(side)


def play(text: str, command: str) -> int:
    """Play a session in a folder that goes with it; return the exit status."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        here = json.dumps(folder)[:-1]
        text = text.replace('"$HERE/', here + "/")
        runs = [json.loads(text.replace('"$RUN/', f"{here}/{run}-")) for run in ("run", "again")]
        first: Json = runs[0]
        assert first["adamant_session"] == 1, "this program plays sessions of version 1"
        for name, tensors in first["files"].items():
            write_tensors(Path(folder, name), tensors)
        player = Player(command or first["command"], first["seconds"])
        requests, shows = first["requests"], first["shows"]
        try:
            if shows["kind"] != "repeated":
                return verdict(shows, player.play(requests, shows))
            player.must(requests[0])
            shown = [list(player.all_shown(run["requests"][1:])) for run in runs]
            for (place, expected), (_, actual) in zip(*shown, strict=False):
                if actual != expected:
                    found = {"expected": expected, "actual": actual}
                    return verdict({"kind": "value", "place": place}, found)
            return 0
        finally:
            player.kill()
            player.engine.wait()


def main(arguments: list[str]) -> int:
    """Play the session of a file."""
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        return play(Path(arguments[0]).read_text(), "".join(arguments[1:]))
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
