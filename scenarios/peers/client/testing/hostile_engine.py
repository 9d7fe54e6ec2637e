"""The stub engine, except for one request: `python3 hostile_engine.py HOW [REQUEST [ONCE]]`.

HOW is the name of a function below; REQUEST is `open` unless it is given. Before the answer to
that request it does what its name says; where the file ONCE exists it does not, else it makes that
file first. For tests of what a harness makes of it.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from stub_engine import HELLO, Engine, Json, file_of

How = Callable[[Json], "str | None"]  # a reply as it should be -> what is sent, or nothing


def nonsense(_: Json) -> str:
    """A line that is no JSON."""
    return "Traceback (most recent call last):\n"


def no_object(_: Json) -> str:
    """JSON, but a list."""
    return "[1, 2]\n"


def no_text(_: Json) -> None:
    """Bytes that are no UTF-8."""
    os.write(1, b"\xff\xfe\x00\n")


def half_a_line(reply: Json) -> None:
    """The rest never comes."""
    os.write(1, json.dumps(reply).encode()[:20])
    never(reply)


def half_a_line_and_out(reply: Json) -> None:
    """The process ends within a line."""
    os.write(1, json.dumps(reply).encode()[:20])
    os._exit(0)


def late(reply: Json) -> str:
    """Three seconds late."""
    time.sleep(3)
    return json.dumps(reply) + "\n"


def never(_: Json) -> None:
    """Silence."""
    time.sleep(600)


def deaf(_: Json) -> None:
    """Silence of two processes that no signal ends but SIGKILL; $DEAF is to list them."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    both = (os.getpid(), os.fork())
    if both[1] != 0:
        Path(os.environ["DEAF"]).write_text(f"{both[0]} {both[1]} all\n")
    time.sleep(600)


def exits(_: Json) -> None:
    """Last words on standard error, and an exit status."""
    os.write(2, b"out of coffee\n")
    os._exit(3)


def killed(_: Json) -> None:
    """As the kernel does when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


def wrong_id(reply: Json) -> str:
    """The answer to another request."""
    return json.dumps({**reply, "id": 77}) + "\n"


def twice(reply: Json) -> str:
    """An answer to a request that nobody made yet."""
    return 2 * (json.dumps(reply) + "\n")


def no_outcome(reply: Json) -> str:
    """A field is missing."""
    return json.dumps({key: at for key, at in reply.items() if key != "outcome"}) + "\n"


def wrong_version(reply: Json) -> str:
    """Of the protocol; for hello."""
    return json.dumps({**reply, "version": 2}) + "\n"


def no_capabilities(reply: Json) -> str:
    """For hello."""
    return json.dumps({key: at for key, at in reply.items() if key != "capabilities"}) + "\n"


def unknown_arithmetic(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "arithmetic": "voodoo"}) + "\n"


def option_without_values(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "options": {"mood": []}}) + "\n"


def misspelt_capability(reply: Json) -> str:
    """For hello."""
    capabilities = {**reply["capabilities"], "empty_tensor": True}
    return json.dumps({**reply, "capabilities": capabilities}) + "\n"


def no_layout(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "capabilities": {**reply["capabilities"], "layouts": []}}) + "\n"


def known_without_path(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "known": 3}) + "\n"


def class_without_name(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "engine_class": {"module": "stub_engine"}}) + "\n"


def class_that_is_code(reply: Json) -> str:
    """For hello."""
    found = {"module": "stub_engine", "name": "Stub; print(1)"}
    return json.dumps({**reply, "engine_class": found}) + "\n"


def script_without_words(reply: Json) -> str:
    """For hello."""
    return json.dumps({**reply, "script": []}) + "\n"


def fewer_ranks(reply: Json) -> str:
    """The last one says nothing."""
    return json.dumps({**reply, "ranks": reply["ranks"][:-1]}) + "\n"


def other_rows(reply: Json) -> str:
    """The first rank claims a row more; for open and state."""
    reply["ranks"][0]["shards"][0]["shape"][0] += 1
    return json.dumps(reply) + "\n"


def one_died(reply: Json) -> str:
    """The last rank, by signal 11."""
    ranks = [*reply["ranks"][:-1], {"outcome": "died", "signal": 11}]
    return json.dumps({"id": reply["id"], "outcome": "died", "ranks": ranks}) + "\n"


def one_late(reply: Json) -> str:
    """The last rank, as the launcher saw it."""
    ranks = [*reply["ranks"][:-1], {"outcome": "timed_out"}]
    return json.dumps({"id": reply["id"], "outcome": "timed_out", "ranks": ranks}) + "\n"


def one_error(reply: Json) -> str:
    """The last rank's own words."""
    error = {"outcome": "error", "error": {"type": "RuntimeError", "text": "shape '[2]' is odd"}}
    ranks = [*reply["ranks"][:-1], error]
    return json.dumps({"id": reply["id"], "outcome": "error", "ranks": ranks}) + "\n"


def thrown(reply: Json) -> str:
    """The last rank's exception, with what it came through."""
    lines = ["Traceback", *(f"  frame {i}" for i in range(6)), "RuntimeError: shape"]
    told = {"type": "RuntimeError", "text": "shape", "kind": "builtins.RuntimeError"}
    told |= {"where": "engine.py:7", "traceback": "\n".join(lines) + "\n"}
    ranks = [*reply["ranks"][:-1], {"outcome": "error", "error": told}]
    return json.dumps({"id": reply["id"], "outcome": "error", "ranks": ranks}) + "\n"


def bare_number(reply: Json) -> str:
    """As json.dumps writes a norm that is not finite; for state."""
    reply["ranks"][0]["scale"]["norm"] = math.nan
    return json.dumps(reply) + "\n"


def raises(_: Json) -> None:
    """An exception that nobody catches."""
    raise RuntimeError("out of tea")


def one_odd_error(reply: Json) -> str:
    """The last rank's error is a text."""
    ranks = [*reply["ranks"][:-1], {"outcome": "error", "error": "out of paper"}]
    return json.dumps({"id": reply["id"], "outcome": "error", "ranks": ranks}) + "\n"


def no_file(reply: Json) -> str:
    """The file of the first rank is not there; for state."""
    os.unlink(reply["ranks"][0]["file"])
    return json.dumps(reply) + "\n"


def lying_header(reply: Json) -> str:
    """Its header is said to be longer than the file; for state."""
    path = Path(reply["ranks"][0]["file"])
    path.write_bytes((1 << 40).to_bytes(8, "little") + path.read_bytes()[8:])
    return json.dumps(reply) + "\n"


def lying_offsets(reply: Json) -> str:
    """Tensors end behind the end of the file; for state."""
    path = Path(reply["ranks"][0]["file"])
    path.write_bytes(path.read_bytes()[:-4])
    return json.dumps(reply) + "\n"


def lying_shape(reply: Json) -> str:
    """A tensor of another shape than its shard; for state."""
    shard = reply["ranks"][0]["shards"][0]
    tensors = {f"local/{shard['name']}": ([1], bytes(4))}
    Path(reply["ranks"][0]["file"]).write_bytes(file_of(tensors))
    return json.dumps(reply) + "\n"


DEEP = "[" * 20_000 + "]" * 20_000


def deep(reply: Json) -> str:
    """A field that nobody asked for, nested."""
    return json.dumps(reply)[:-1] + f', "extra": {DEEP}}}\n'


def deep_id(_: Json) -> str:
    """In the place of a number."""
    return f'{{"outcome": "ok", "id": {DEEP}}}\n'


def cut_count(reply: Json) -> str:
    """A count that is none; for state."""
    reply["ranks"][0]["shards"][0]["steps"] = 4.9
    return json.dumps(reply) + "\n"


def vast_count(reply: Json) -> str:
    """A count that no register holds; for state."""
    reply["ranks"][0]["shards"][0]["steps"] = 1 << 63
    return json.dumps(reply) + "\n"


def vast_rows(reply: Json) -> str:
    """So many rows that no register holds their number; for state."""
    reply["ranks"][0]["shards"][0]["shape"][0] = 1 << 63
    return json.dumps(reply) + "\n"


def elsewhere(path: str, reply: Json) -> str:
    """The first rank's file is at `path`."""
    reply["ranks"][0]["file"] = path
    return json.dumps(reply) + "\n"


def pipe(reply: Json) -> str:
    """For state: a file that nobody will ever write to."""
    path = reply["ranks"][0]["file"] + ".pipe"
    os.mkfifo(path)
    return elsewhere(path, reply)


def zeros(reply: Json) -> str:
    """For state: a file without an end."""
    return elsewhere("/dev/zero", reply)


def directory(reply: Json) -> str:
    """For state: a file that is none."""
    return elsewhere("/", reply)


def endless_line(_: Json) -> None:
    """More than anybody should keep."""
    while True:
        os.write(1, b"x" * (1 << 20))


def closes_output(_: Json) -> None:
    """And lives on."""
    os.close(1)
    time.sleep(600)


def stays(reply: Json) -> str:
    """Answers, but neither it nor a process that it starts ends with its input."""
    if os.fork() == 0:
        os.close(1)
        time.sleep(600)
        os._exit(0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(f"child of {os.getpid()}", file=sys.stderr, flush=True)
    os.write(1, json.dumps(reply).encode() + b"\n")
    never(reply)
    return ""


def loses_a_bit(reply: Json) -> str:
    """The last byte of the first rank's file is another; for state."""
    path = Path(reply["ranks"][0]["file"])
    data = path.read_bytes()
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    return json.dumps(reply) + "\n"


def right(reply: Json, of_rank: Json) -> str:
    """What is an error is none."""
    found = {"id": reply["id"], "outcome": "ok", "ranks": [{"outcome": "ok", **of_rank}]}
    return json.dumps(found if reply["outcome"] == "error" else reply) + "\n"


def any_version(reply: Json) -> str:
    """For hello: whichever is asked for."""
    return json.dumps({"id": reply["id"], "outcome": "ok", **HELLO}) + "\n"


def anything(reply: Json) -> str:
    """Nothing is wrong; for what changes a world."""
    return right(reply, {})


def any_step(reply: Json) -> str:
    """Likewise; for step."""
    return right(reply, {"applied": True})


def any_later_step(reply: Json, asked: list[int] = []) -> str:  # noqa: B006
    """Likewise, but for the first one."""
    asked.append(1)
    return any_step(reply) if len(asked) > 1 else json.dumps(reply) + "\n"


def any_open(reply: Json) -> str:
    """Likewise; for open."""
    return right(reply, {"shards": []})


def leaves_child(reply: Json) -> str:
    """Ends with its input, but a process that it starts does not."""
    if os.fork() == 0:
        os.close(0)
        os.close(1)
        time.sleep(600)
        os._exit(0)
    return json.dumps(reply) + "\n"


def one_world(reply: Json, opened: list[int] = []) -> str:  # noqa: B006
    """A second one is an error; for open."""
    opened.append(1)
    error = {"type": "RuntimeError", "text": "there is one already"}
    found = reply if len(opened) == 1 else {**reply, "outcome": "error", "error": error}
    return json.dumps(found) + "\n"


def numbered_nonsense(reply: Json) -> str:
    """What has no id is answered with one; for any."""
    return json.dumps({**reply, "id": reply["id"] or 0}) + "\n"


def odd_outcome_on_nonsense(reply: Json) -> str:
    """What is no request is answered by a number; for any."""
    return json.dumps(reply if reply["id"] is not None else {**reply, "outcome": 3}) + "\n"


def falls_silent_on_nonsense(reply: Json) -> str | None:
    """What is no request is not answered; for any."""
    return None if reply["id"] is None else json.dumps(reply) + "\n"


def main() -> None:
    """Line by line, until there are no more."""
    how: How = globals()[sys.argv[1]]
    at = sys.argv[2] if len(sys.argv) > 2 else "open"
    once = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    engine = Engine()
    for line in sys.stdin:
        reply = engine.answer(line)
        here = at == "any" or f'"request":"{at}"' in line.replace('": "', '":"')
        if here and once is not None:
            here = not once.exists()
            once.touch()
        sent = how(reply) if here else json.dumps(reply) + "\n"
        os.write(1, (sent or "").encode())


if __name__ == "__main__":
    main()
