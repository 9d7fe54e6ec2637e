"""The engine over its pipes, as a harness meets it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adamant_numpy.formats import Array
from adamant_numpy.launcher import Launcher, Lines
from conversation import FP32, GROUP, PARAMS, Conversation


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Conversation]:
    """A launcher after hello."""
    with Conversation(tmp_path) as talk:
        talk.ok("hello", version=1, timeout_seconds=20)
        yield talk


def same(a: dict[str, Array], b: dict[str, Array]) -> bool:
    """To the bit."""
    return a.keys() == b.keys() and all(a[k].tobytes() == b[k].tobytes() for k in a)


def children_of(pid: int) -> list[int]:
    """Processes whose parent is `pid`."""
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def is_gone(pid: int, seconds: float = 2) -> bool:
    """Is there no such process, at the latest soon?"""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("garbage", "no request"),
        ("[]", "no request"),
        ('{"request": "step"}', "no request"),
        ('{"id": "x", "request": "step"}', "no request"),
        ("[" * 100000, "no request"),
        ('{"id": 7, "request": "dance"}', "unknown request 'dance'"),
        ('{"id": 7, "request": ["dance"]}', "unknown request"),
        ('{"id": 7, "request": "step"}', "no world is open"),
        ('{"id": 7, "request": "open"}', "field 'params' is missing"),
        ('{"id": 7, "request": "hello", "version": 2}', "version 2"),
    ],
)
def test_what_is_no_request_gets_an_error_and_the_engine_goes_on(
    peer: Conversation, line: str, text: str
) -> None:
    """Errors of type `protocol`."""
    reply = peer.send(line)
    assert reply["outcome"] == "error"
    assert reply["error"]["type"] == "protocol"
    assert text in reply["error"]["text"]
    assert peer.ok("hello", version=1)


@pytest.mark.parametrize(
    ("request_name", "fields", "text"),
    [
        ("clip", {}, "no norm"),
        ("backward", {"gradients": [], "without": []}, "0 files"),
        ("backward", {"without": []}, "'gradients' is missing"),
        ("zero_grad", {}, "'set_to_none' is missing"),
        ("set", {"loss_scale": "dynamic"}, "was not offered"),
    ],
)
def test_a_request_without_sense_leaves_the_world_as_it_is(
    peer: Conversation, request_name: str, fields: dict[str, Any], text: str
) -> None:
    """The next one is answered."""
    peer.open()
    before = peer.wholes()
    reply = peer.ask(request_name, **fields)
    assert reply["error"]["type"] == "protocol"
    assert text in reply["error"]["text"]
    assert same(peer.wholes(), before)


def test_a_file_that_lies_is_an_error(peer: Conversation) -> None:
    """Its header says more than there is."""
    path = peer.scratch / "lie.safetensors"
    path.write_bytes((1 << 40).to_bytes(8, "little") + b"{}")
    peer.open()
    reply = peer.ask("backward", gradients=[str(path)] * 2, without=[])
    assert (reply["outcome"], reply["error"]["type"]) == ("error", "ValueError")


def test_an_open_says_which_rows_each_rank_owns(peer: Conversation) -> None:
    """5 rows on 4 ranks: 2, 2, 1, 0."""
    reply = peer.open(shard=4)
    found = [rank["shards"][0] for rank in reply["ranks"]]
    assert [at["offsets"] for at in found] == [[0, 0], [2, 0], [4, 0], [5, 0]]
    assert [at["shape"] for at in found] == [[2, 2], [2, 2], [1, 2], [0, 2]]


def test_a_state_has_local_rows_and_whole_tensors(peer: Conversation) -> None:
    """In the types that are stored, tensors without elements among them."""
    peer.open(shard=4, precision={**FP32, "param": "bf16", "main": "fp32"})
    peer.backward(4)
    reply, ranks = peer.state()
    kinds = ["", "/gradient", "/main", "/exp_avg", "/exp_avg_sq"]
    names = {f"{part}/{p['name']}{k}" for part in ("local", "whole") for p in PARAMS for k in kinds}
    assert ranks[0].keys() == names
    assert ranks[3]["local/a.weight/exp_avg"].shape == (0, 2)
    assert ranks[3]["whole/a.weight"].shape == (5, 2)
    raw = Path(reply["ranks"][0]["file"]).read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    types = {header[f"local/b{k}"]["dtype"] for k in kinds[1:]}
    assert (header["local/b"]["dtype"], types) == ("BF16", {"F32"})


SCALED = {"param": "fp8_delayed", "main": "fp32", "grad": "fp32", "exp_avg": "fp8"} | {
    "exp_avg_sq": "fp16",
    "state_scale": "local",
}


def test_a_state_shows_what_is_read_with_scales(peer: Conversation) -> None:
    """Values, what is stored, and its scales; a bias, which is no matrix, is bf16."""
    peer.open(precision=SCALED)
    peer.train()
    _, ranks = peer.state(whole=False)
    found = ranks[0]
    parts = {key for key in found if key.startswith("local/a.weight/")}
    beside = ("raw", "scale", "history", "next_scale", "main")
    moments = ("exp_avg", "exp_avg_sq")
    states = {f"{kind}{part}" for kind in moments for part in ("", "/raw", "/scale")}
    assert parts == {f"local/a.weight/{part}" for part in (*beside, *states)}
    assert found["local/a.weight/raw"].dtype == np.uint8
    assert found["local/a.weight/exp_avg_sq/raw"].dtype == np.float16
    for kind in moments:
        assert found[f"local/a.weight/{kind}/scale"].shape == (1,)
    raw, scale = (found[f"local/a.weight/exp_avg_sq/{part}"] for part in ("raw", "scale"))
    assert same({"v": found["local/a.weight/exp_avg_sq"]}, {"v": raw.astype(np.float32) * scale})
    assert "local/b/raw" not in found


def test_a_load_of_the_same_types_brings_back_what_was_stored(peer: Conversation) -> None:
    """Histories among them; on another world scales of shards are made anew."""
    peer.open(precision=SCALED)
    peer.train()
    peer.train()
    _, saved = peer.state()
    peer.ok("save", directory=str(peer.scratch / "a"))
    peer.open(precision=SCALED, fill=-77.0)
    peer.ok("load", directory=str(peer.scratch / "a"))
    _, loaded = peer.state()
    assert all(same(a, b) for a, b in zip(saved, loaded, strict=True))
    peer.open(shard=1, precision=SCALED, fill=-77.0)
    peer.ok("load", directory=str(peer.scratch / "a"))
    _, alone = peer.state()
    for part in ("", "/history", "/next_scale", "/scale"):
        key = f"local/a.weight{part}"
        whole = saved[0]["whole/a.weight"] if part == "" else saved[0][key]
        assert alone[0][key].tobytes() == whole.tobytes()
    assert alone[0]["local/a.weight/exp_avg/scale"] == max(
        rank["local/a.weight/exp_avg/scale"] for rank in saved
    )


def test_gradients_are_reduced_and_added(peer: Conversation) -> None:
    """Two backwards, one of them without a parameter."""
    peer.open()
    peer.backward(value=4.0)
    peer.backward(value=8.0, without=["b"])
    whole = peer.wholes()
    ramp = np.arange(10, dtype=np.float32).reshape(5, 2)
    expected = (4 * (2 * ramp + 1) + 8 * (2 * ramp + 1)) / 4
    assert same({"w": whole["whole/a.weight/gradient"]}, {"w": expected.astype(np.float32)})
    assert whole["whole/b/gradient"][0] == 1.0


def test_an_overflow_shows_on_its_owner(peer: Conversation) -> None:
    """Element 9 of [5, 2] is row 4, of rank 1 of 2."""
    peer.open(optimizer={"mode": "adam", "step_counter": "group", "clip": None, "loss_scale": 8.0})
    peer.backward(overflow={"rank": 1, "name": "a.weight", "index": 9, "value": "-inf"})
    _, ranks = peer.state()
    assert ranks[1]["local/a.weight/gradient"][1, 1] == -np.inf
    assert [rank["applied"] for rank in peer.ok("step")["ranks"]] == [False, False]
    reply, _ = peer.state()
    assert reply["ranks"][0]["scale"]["skipped"] is True
    assert reply["ranks"][0]["shards"][0]["steps"] == 0


def test_an_overflow_shows_on_all_replicas(peer: Conversation) -> None:
    """As after an all-reduce."""
    peer.open(world={"shard": 2, "replicate": 2})
    peer.backward(4, overflow={"rank": 1, "name": "a.weight", "index": 9, "value": "inf"})
    _, ranks = peer.state()
    found = [bool(np.isinf(rank["local/a.weight/gradient"]).any()) for rank in ranks]
    assert found == [False, True, False, True]


def test_what_is_set_is_reported(peer: Conversation) -> None:
    """And nothing else changes."""
    peer.open()
    peer.ok("set", groups=[{"name": "", "lr": 0.5}], clip=2.0, loss_scale=16.0)
    reply, _ = peer.state()
    assert reply["ranks"][1]["groups"] == [{**GROUP, "lr": 0.5}]
    assert reply["ranks"][1]["scale"]["loss_scale"] == 16.0
    peer.backward()
    assert peer.ok("clip")["ranks"][0]["norm"] > 0


@pytest.mark.parametrize("shard", [1, 2, 3, 8])
def test_a_load_on_any_world_is_what_was_saved(peer: Conversation, shard: int) -> None:
    """The new one starts from other values; settings come back too."""
    peer.open()
    peer.train()
    peer.ok("set", groups=[{"name": "", "lr": 0.5}])
    saved = peer.wholes()
    files = peer.ok("save", directory=str(peer.scratch / "a"))["files"]
    assert files == sorted(os.listdir(peer.scratch / "a"))
    peer.open(shard=shard, fill=-77.0)
    peer.ok("load", directory=str(peer.scratch / "a"))
    assert same(peer.wholes(), saved)
    reply, _ = peer.state()
    assert reply["ranks"][0]["shards"][0]["steps"] == 1
    assert reply["ranks"][0]["groups"][0]["lr"] == 0.5


def test_a_second_save_replaces_the_first(peer: Conversation) -> None:
    """And leaves no file of it."""
    peer.open(shard=3)
    for _ in range(2):
        peer.train(3)
        files = peer.ok("save", directory=str(peer.scratch / "a"))["files"]
    assert files == sorted(os.listdir(peer.scratch / "a"))


@pytest.mark.parametrize("rank", [0, 1])
def test_a_crash_at_any_operation_leaves_the_old_or_the_new(peer: Conversation, rank: int) -> None:
    """Until the rank has no operation of that number any more."""
    directory = str(peer.scratch / "a")
    outcomes = set()
    for operation in range(16):
        peer.open()
        peer.train()
        old = peer.wholes()
        peer.ok("save", directory=directory)
        peer.train()
        new = peer.wholes()
        reply = peer.ask("save", directory=directory, crash={"rank": rank, "operation": operation})
        if reply["outcome"] == "died":
            assert reply["ranks"] == [{"outcome": "died", "signal": 9}] * 2
            assert peer.ask("step")["error"]["type"] == "protocol"
        peer.open(fill=-77.0)
        peer.ok("load", directory=directory)
        found = peer.wholes()
        outcomes.add((reply["outcome"], same(found, old), same(found, {**new})))
    new_ones = {("died", False, True), ("ok", False, True)} if rank == 0 else {("ok", False, True)}
    assert outcomes == {("died", True, False)} | new_ones


def damage(directory: Path, kind: str, file: int) -> bool:
    """Damages a file as the harness does. False: there is none of that number."""
    names = sorted(os.listdir(directory))
    if file >= len(names):
        return False
    path = directory / names[file]
    data = path.read_bytes()
    if kind == "remove_file":
        path.unlink()
    elif kind == "truncate":
        path.write_bytes(data[: len(data) // 2])
    else:
        middle = len(data) // 2
        path.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    return True


@pytest.mark.parametrize("kind", ["flip_byte", "truncate", "remove_file"])
@pytest.mark.parametrize("file", [0, 1, 2])
def test_damage_is_found_and_the_world_stays(peer: Conversation, kind: str, file: int) -> None:
    """Two files of ranks and the index."""
    peer.open()
    peer.train()
    peer.ok("save", directory=str(peer.scratch / "a"))
    assert damage(peer.scratch / "a", kind, file)
    peer.train()
    before = peer.wholes()
    reply = peer.ask("load", directory=str(peer.scratch / "a"))
    assert (reply["error"]["type"], reply["holds"]) == ("damaged_checkpoint", True)
    assert same(peer.wholes(), before)


def test_another_model_is_incompatible(peer: Conversation) -> None:
    """With the same names."""
    peer.open()
    peer.ok("save", directory=str(peer.scratch / "a"))
    peer.open(params=[{**PARAMS[0], "shape": [4, 2]}, PARAMS[1]])
    reply = peer.ask("load", directory=str(peer.scratch / "a"))
    assert reply["error"]["type"] == "incompatible_checkpoint"


def after_a_load(scratch: Path, shard: int, *flags: str) -> tuple[dict[str, Array], int]:
    """Trains on 2 ranks, loads on `shard` and trains on: all tensors and the step counter."""
    with Conversation(scratch, *flags) as talk:
        talk.open()
        talk.train()
        talk.ok("save", directory=str(scratch / "a"))
        talk.open(shard=shard, fill=-77.0)
        talk.ok("load", directory=str(scratch / "a"))
        talk.train(shard, value=8.0 / shard)
        return talk.wholes(), talk.state()[0]["ranks"][0]["shards"][0]["steps"]


@pytest.mark.parametrize(
    ("bug", "shard", "shows"),
    [
        ("shard_as_whole", 1, True),
        ("shard_as_whole", 2, False),
        ("stale_step", 2, True),
        ("no_bias_correction", 2, True),
    ],
)
def test_a_bug_shows_where_it_should(tmp_path: Path, bug: str, shard: int, shows: bool) -> None:
    """A shard taken for a whole goes unseen on as many ranks as saved it."""
    right, right_steps = after_a_load(tmp_path, shard)
    wrong, wrong_steps = after_a_load(tmp_path, shard, "--bug", bug)
    assert (not same(right, wrong)) is shows
    assert (right_steps, wrong_steps) == (2, 1 if bug == "stale_step" else 2)


def test_nothing_is_left_when_the_input_ends(peer: Conversation) -> None:
    """Launcher and world end by themselves."""
    peer.open()
    (world,) = children_of(peer.process.pid)
    peer.process.communicate(timeout=2)
    assert peer.process.returncode == 0
    assert is_gone(world)


def test_nothing_is_left_when_nobody_reads(peer: Conversation) -> None:
    """Launcher and world end at the next reply."""
    peer.open()
    (world,) = children_of(peer.process.pid)
    assert peer.process.stdin is not None
    assert peer.process.stdout is not None
    peer.process.stdout.close()
    peer.process.stdin.write(b'{"id": 9, "request": "step"}\n')
    peer.process.stdin.flush()
    assert peer.process.wait(timeout=5) == 0
    assert is_gone(world)
    assert peer.process.stderr is not None
    assert peer.process.stderr.read() == b""
    peer.process.stdout = None


def test_nothing_is_left_of_a_launcher_that_was_killed(peer: Conversation) -> None:
    """A world dies with its parent."""
    peer.open()
    (world,) = children_of(peer.process.pid)
    peer.process.kill()
    assert is_gone(world)


def test_a_world_that_is_killed_is_answered_for(peer: Conversation) -> None:
    """And the next open works."""
    peer.open()
    (world,) = children_of(peer.process.pid)
    os.kill(world, signal.SIGTERM)
    reply = peer.ask("step")
    assert reply["ranks"] == [{"outcome": "died", "signal": 15}] * 2
    peer.open()
    peer.train()


def test_closing_ends_the_world_and_not_the_launcher(peer: Conversation) -> None:
    """Also where there is none."""
    peer.ok("close")
    peer.open()
    peer.ok("close")
    assert children_of(peer.process.pid) == []
    assert peer.ask("step")["error"]["type"] == "protocol"


def slow(request: dict[str, Any]) -> dict[str, Any]:
    """A world that opens and then never answers."""
    if request["request"] != "open":
        time.sleep(60)
    return {"outcome": "ok", "ranks": [{"outcome": "ok"}]}


def test_a_world_that_is_late_is_ended(tmp_path: Path) -> None:
    """After the time that hello names."""
    to_launcher, requests = os.pipe()
    from_launcher, replies = os.pipe()
    launcher = Launcher(to_launcher, replies, slow)
    launcher.timeout_seconds = 0.1
    launcher.answer(b'{"id": 0, "request": "open"}')
    reply = launcher.answer(b'{"id": 1, "request": "step"}')
    assert reply == {"id": 1, "outcome": "timed_out", "ranks": [{"outcome": "timed_out"}]}
    assert launcher.child is None
    for descriptor in (to_launcher, requests, from_launcher, replies):
        os.close(descriptor)


def dying(_: dict[str, Any]) -> dict[str, Any]:
    """A world that opens and then ends within a reply of 256 bytes."""

    def send_a_part(pipe: Any, _: bytes) -> None:
        os.write(pipe.fileno(), b"\0\0\1\0" + b'{"outcome": "ok", ')
        os._exit(3)

    # In this process alone, and after this reply, for which the method has been looked up.
    Connection.send_bytes = send_a_part  # type: ignore[assignment, method-assign]
    return {"outcome": "ok", "ranks": [{"outcome": "ok"}]}


def test_a_world_that_dies_within_its_reply_is_answered_for() -> None:
    """As one that dies before it."""
    to_launcher, requests = os.pipe()
    from_launcher, replies = os.pipe()
    launcher = Launcher(to_launcher, replies, dying)
    launcher.answer(b'{"id": 0, "request": "open"}')
    reply = launcher.answer(b'{"id": 1, "request": "step"}')
    died = {"outcome": "died", "exit_status": 3}
    assert reply == {"id": 1, "outcome": "died", "ranks": [died]}
    assert launcher.child is None
    for descriptor in (to_launcher, requests, from_launcher, replies):
        os.close(descriptor)


def test_lines_come_whole() -> None:
    """However they arrive."""
    read, write = os.pipe()
    lines = Lines(read)
    os.write(write, b"one\ntw")
    lines.fill()
    assert (lines.take(), lines.take()) == (b"one", None)
    os.write(write, b"o\n")
    lines.fill()
    assert lines.take() == b"two"
    os.close(write)
    lines.fill()
    assert lines.ended
    os.close(read)


def test_a_bug_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """With the names of those that do."""
    talk = Conversation(tmp_path, "--bug", "canary")
    assert b"no_bias_correction" in talk.process.communicate(timeout=5)[1]
    assert talk.process.returncode == 2
